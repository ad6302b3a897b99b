import { Button, Textarea } from '@chakra-ui/react'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { t } from '../i18n/t.ts'
import { confirm } from './confirm.tsx'
import { IconButton } from './icon-button.tsx'
import { notify } from './notify.ts'

/** Safari refuses what comes after a fetch, and takes a text that is still to come at the press alone. */
async function write(text: string | Promise<string>): Promise<void> {
  if (typeof text !== 'string' && 'ClipboardItem' in window) {
    const content = text.then((words) => new Blob([words], { type: 'text/plain' }))
    try {
      return await navigator.clipboard.write([new ClipboardItem({ 'text/plain': content })])
    } catch {
      // Older browsers take no text that is still to come.
      await content
    }
  }
  await navigator.clipboard.writeText(await text)
}

function showToCopy(text: string): Promise<unknown> {
  return confirm({
    title: t('无法复制到剪贴板，请手动复制'),
    body: (
      <Textarea
        readOnly
        aria-label={t('要复制的内容')}
        defaultValue={text}
        fontFamily="mono"
        rows={Math.min(10, text.split('\n').length + 1)}
        onFocus={(event) => event.target.select()}
      />
    ),
    confirmLabel: t('关闭'),
    isNotice: true,
  })
}

/**
 * Copies, or shows the text to copy by hand where the browser does not allow it. Of a text that has to be fetched it is given the
 * promise, at the press; where that fails nothing is copied.
 */
export async function copyText(
  text: string | Promise<string>,
  onRefused: (text: string) => unknown = showToCopy,
): Promise<boolean> {
  try {
    await write(text)
    return true
  } catch {
    await onRefused(await text)
    return false
  }
}

/** Copies and says so, for menus, where no button can show it. */
export async function copyWithToast(text: string | Promise<string>): Promise<void> {
  if (await copyText(text)) notify.success(t('已复制'))
}

const shownMilliseconds = 1500

type CopyButtonProps = {
  /** Fetched when pressed if it is a secret that the page does not hold. */
  text: string | (() => Promise<string>)
  /** Names what is copied: 「复制密钥」. */
  label: string
  /** With the words beside the image. */
  wide?: boolean
  size?: 'xs' | '2xs' | 'sm'
  /** Selects the text to be copied by hand where it stands: in a `confirm` a dialog that shows it would take the place of that. */
  select?: () => void
}

/** Says for a moment that it copied. */
export function CopyButton({ text, label, wide = false, size = 'xs', select }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  const [working, setWorking] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [copied])
  const onRefused =
    select &&
    (() => {
      select()
      notify.warning(t('无法复制到剪贴板，请手动复制'))
    })
  const copy = async () => {
    setWorking(true)
    try {
      setCopied(await copyText(typeof text === 'string' ? text : text(), onRefused))
    } catch (error) {
      notify.error(error, t('没有复制'))
    } finally {
      setWorking(false)
    }
  }
  const Icon = copied ? Check : Copy
  if (!wide) {
    return (
      <IconButton
        size={size}
        icon={Icon}
        label={label}
        tip={copied ? t('已复制') : label}
        loading={working}
        onClick={() => void copy()}
      />
    )
  }
  return (
    <Button size={size} loading={working} onClick={() => void copy()}>
      <Icon aria-hidden />
      {/* Of its own, or what a translator made of the former words would stay beside the new ones. */}
      <span>{copied ? t('已复制') : label}</span>
    </Button>
  )
}
