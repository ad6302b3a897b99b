import { chakra } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { notify } from '../../../components/notify.ts'
import { t, text } from '../../../i18n/t.ts'
import { errorText } from '../../../lib/errors.ts'
import { isComposing } from '../../../lib/keyboard.ts'

const Field = chakra('input', {
  base: {
    w: 'full',
    maxW: '20',
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
    _invalid: { borderColor: 'border.error' },
  },
})

/** What the list lets people enter, and what it says of anything else; the form knows no such floor for priorities. */
const figures = {
  priority: { least: -999, most: 2_147_483_647, words: text('优先级必须是整数！') },
  weight: { least: 0, most: 1_000_000, words: text('权重必须是非负整数！') },
}

type InlineNumberProps = {
  kind: keyof typeof figures
  /** Names the figure and its row. */
  label: string
  /** Undefined where several rows differ. */
  value: number | undefined
  save: (value: number) => Promise<unknown>
}

/** The number meant, or what is wrong with it. A weight below zero means none. */
function read(kind: keyof typeof figures, typed: string): { number: number } | { problem: string } {
  const { least, most, words } = figures[kind]
  const number = typed === '' ? NaN : Number(typed)
  if (!Number.isInteger(number)) return { problem: t(words) }
  if (kind === 'weight' && number < 0) return { number: 0 }
  if (number < least || number > most) return { problem: t('请输入 {least} 到 {most} 之间的整数', { least, most }) }
  return { number }
}

const textOf = (value: number | undefined) => (value === undefined ? '' : String(value))

/** A whole number that is changed where it stands: Enter or leaving saves, Escape takes it back. */
export function InlineNumber({ kind, label, value, save }: InlineNumberProps) {
  const [typed, setTyped] = useState(textOf(value))
  const [saving, setSaving] = useState(false)
  const [problem, setProblem] = useState('')
  useEffect(() => setTyped(textOf(value)), [value])
  const change = (next: string) => {
    setTyped(next)
    setProblem('')
  }

  const commit = async () => {
    const wanted = typed.trim()
    if (wanted === textOf(value)) return setProblem('')
    const meant = read(kind, wanted)
    if ('problem' in meant) {
      setProblem(meant.problem)
      notify.warning(t('{label}：{problem}', { label, problem: meant.problem }))
      return
    }
    setSaving(true)
    try {
      await save(meant.number)
      setTyped(textOf(meant.number))
    } catch (error) {
      notify.error(error, t('没有保存 {label}', { label }))
      setProblem(errorText(error))
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
      aria-invalid={problem !== ''}
      data-tip={problem || undefined}
      onChange={(event) => change(event.target.value)}
      onFocus={(event) => event.target.select()}
      onBlur={() => void commit()}
      onKeyDown={(event) => {
        if (isComposing(event)) return
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') change(textOf(value))
      }}
    />
  )
}
