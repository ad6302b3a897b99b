import { chakra } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'

const Field = chakra('input', {
  base: {
    w: 'full',
    maxW: '72px',
    h: '6',
    px: '1.5',
    bg: 'transparent',
    borderWidth: '1px',
    borderColor: 'border.muted',
    borderRadius: 'l1',
    textAlign: 'end',
    fontVariantNumeric: 'tabular-nums',
    _hover: { borderColor: 'border.emphasized' },
    _focusVisible: { bg: 'bg.panel' },
    focusVisibleRing: 'inside',
    _disabled: { opacity: '0.5' },
  },
})

/** What the list lets people enter; the form knows no such floor for priorities. */
export const smallest = { priority: -999, weight: 0 }

type InlineNumberProps = {
  /** Names the figure and its row. */
  label: string
  /** Undefined where several rows differ. */
  value: number | undefined
  /** Less becomes this. */
  smallest: number
  save: (value: number) => Promise<unknown>
}

const textOf = (value: number | undefined) => (value === undefined ? '' : String(value))

/** A whole number that is changed where it stands: Enter or leaving saves, Escape takes it back. */
export function InlineNumber({ label, value, smallest: least, save }: InlineNumberProps) {
  const [typed, setTyped] = useState(textOf(value))
  const [saving, setSaving] = useState(false)
  useEffect(() => setTyped(textOf(value)), [value])

  const commit = async () => {
    const wanted = typed.trim()
    if (wanted === textOf(value)) return
    const number = Number(wanted)
    if (wanted === '' || !Number.isInteger(number)) {
      notify.warning(t('{label}：请输入整数', { label }))
      setTyped(textOf(value))
      return
    }
    setSaving(true)
    try {
      await save(Math.max(number, least))
    } catch (error) {
      notify.error(error, t('没有保存 {label}', { label }))
      setTyped(textOf(value))
    } finally {
      setSaving(false)
    }
  }

  return (
    <Field
      aria-label={label}
      value={typed}
      placeholder="–"
      inputMode="numeric"
      autoComplete="off"
      disabled={saving}
      onChange={(event) => setTyped(event.target.value)}
      onFocus={(event) => event.target.select()}
      onBlur={() => void commit()}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setTyped(textOf(value))
      }}
    />
  )
}
