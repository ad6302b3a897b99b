import { HStack, Input, InputGroup, SegmentGroup, Textarea } from '@chakra-ui/react'
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import type { ChannelType } from '#core/channel-types/index.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { maskKey } from '../../../components/cells/names.tsx'
import { CopyButton } from '../../../components/copy.tsx'
import { FieldFrame, useField } from '../../../components/fields/field-frame.tsx'
import { IconButton } from '../../../components/icon-button.tsx'
import { t } from '../../../i18n/t.ts'
import { keyHint } from '../types.ts'
import { regionalType } from './values.ts'

type KeyFieldProps = { entry: ChannelType; isStored: boolean; mustRetype: boolean }

const separators = /[,\n]/

/** One key, or several a line each; pasting several switches over by itself. A service account is a text of its own. */
export function KeyField({ entry, isStored, mustRetype }: KeyFieldProps) {
  const { field, state } = useField('key')
  const value = String(field.value ?? '')
  const isOneKey = entry.type === regionalType || !entry.multiKey
  const [several, setSeveral] = useState(!isOneKey && splitKeys(entry.type, value).length > 1)
  const change = (text: string) => {
    if (!isOneKey && !several && separators.test(text) && !text.trim().startsWith('{')) {
      setSeveral(true)
      field.onChange(splitKeys(entry.type, text).join('\n'))
    } else field.onChange(text)
  }
  const switchTo = (next: boolean) => {
    setSeveral(next)
    field.onChange(splitKeys(entry.type, value).join(next ? '\n' : ','))
  }
  const placeholder = mustRetype ? t('地址或类型已更改，请重新填写密钥') : isStored ? t('留空则保持不变') : undefined
  const count = several ? splitKeys(entry.type, value).length : 0
  const shared = { entry, value, onChange: change, onBlur: field.onBlur, placeholder, inputRef: field.ref }
  return (
    <FieldFrame
      label={t('密钥')}
      required={!isStored || mustRetype}
      state={state}
      help={count > 1 ? t('{count} 个密钥，轮流使用；各自的状态在渠道详情中', { count }) : keyHint(entry)}
      extra={isOneKey ? undefined : <ModeSwitch several={several} onChange={switchTo} />}
    >
      {isOneKey || several ? <KeyArea {...shared} isOneKey={isOneKey} /> : <KeyLine {...shared} />}
    </FieldFrame>
  )
}

function ModeSwitch({ several, onChange }: { several: boolean; onChange: (several: boolean) => void }) {
  return (
    <SegmentGroup.Root
      size="xs"
      aria-label={t('密钥数量')}
      value={several ? 'several' : 'one'}
      onValueChange={({ value }) => onChange(value === 'several')}
    >
      <SegmentGroup.Indicator />
      <SegmentGroup.Items
        items={[
          { value: 'one', label: t('单个') },
          { value: 'several', label: t('多个') },
        ]}
      />
    </SegmentGroup.Root>
  )
}

type InputProps = {
  value: string
  onChange: (text: string) => void
  onBlur: () => void
  placeholder: string | undefined
  inputRef: (element: HTMLInputElement | HTMLTextAreaElement | null) => void
}

type KeyToolsProps = { value: string; shown: boolean; onShow: (shown: boolean) => void }

function KeyTools({ value, shown, onShow }: KeyToolsProps) {
  return (
    <HStack gap="0">
      <IconButton
        size="2xs"
        icon={shown ? EyeOff : Eye}
        label={shown ? t('隐藏 {name}', { name: t('密钥') }) : t('显示 {name}', { name: t('密钥') })}
        onClick={() => onShow(!shown)}
      />
      {value !== '' && <CopyButton size="2xs" text={value} label={t('复制 {name}', { name: t('密钥') })} />}
    </HStack>
  )
}

function KeyLine({ value, onChange, onBlur, placeholder, inputRef }: InputProps) {
  const [shown, setShown] = useState(false)
  return (
    <InputGroup endElementProps={{ px: '1' }} endElement={<KeyTools value={value} shown={shown} onShow={setShown} />}>
      <Input
        ref={inputRef}
        name="key"
        value={value}
        type={shown ? 'text' : 'password'}
        // With "off" browsers still fill in the password of whoever is signed in.
        autoComplete="new-password"
        spellCheck={false}
        placeholder={placeholder}
        fontFamily={shown ? 'mono' : undefined}
        onBlur={onBlur}
        onChange={(event) => onChange(event.target.value)}
        onPaste={(event) => {
          // A field of one line would drop the line breaks before anybody sees them.
          const pasted = event.clipboardData.getData('text')
          if (!separators.test(pasted.trim())) return
          event.preventDefault()
          onChange(pasted)
        }}
      />
    </InputGroup>
  )
}

type KeyAreaProps = InputProps & { entry: ChannelType; isOneKey: boolean }

/** No browser hides what stands in a field of several lines: until they are shown, its keys are only distinguished. */
function KeyArea({ entry, value, onChange, onBlur, placeholder, inputRef, isOneKey }: KeyAreaProps) {
  const [shown, setShown] = useState(false)
  const isMasked = !shown && value.trim() !== ''
  return (
    <InputGroup
      endElementProps={{ px: '1', pt: '1', alignItems: 'flex-start' }}
      endElement={value.trim() !== '' && <KeyTools value={value} shown={shown} onShow={setShown} />}
    >
      <Textarea
        ref={inputRef}
        name="key"
        value={isMasked ? maskedKeys(entry, { value, isOneKey }) : value}
        readOnly={isMasked}
        rows={4}
        autoresize
        maxH="56"
        fontFamily="mono"
        textStyle="xs"
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder ?? (isOneKey ? '{\n  "type": "service_account",\n  …' : t('每行一个密钥'))}
        onBlur={onBlur}
        onChange={(event) => {
          // What somebody is typing there is seen by them; what was there before is shown on demand alone.
          setShown(true)
          onChange(event.target.value)
        }}
      />
    </InputGroup>
  )
}

const maskedKeys = (entry: ChannelType, { value, isOneKey }: { value: string; isOneKey: boolean }): string =>
  isOneKey
    ? maskKey('')
    : splitKeys(entry.type, value)
        .map((key) => maskKey(key.startsWith('{') ? '' : key))
        .join('\n')
