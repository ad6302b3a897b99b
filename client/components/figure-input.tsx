import { Box, Input, InputGroup } from '@chakra-ui/react'
import { Lock } from 'lucide-react'
import { useEffect, useState } from 'react'

type FigureInputProps = {
  /** Null or NaN while what is typed is no number; undefined where there is none. */
  value: number | null | undefined
  /** `isNumber` is false of a text that is none, which is not the same as nothing. */
  onChange: (value: number | null, isNumber: boolean) => void
  label: string
  placeholder?: string
  disabled?: boolean
  /** Figures below each other end at one edge; one alone begins where its label does. */
  align?: 'start' | 'end'
  /** Differs from what is stored. */
  isChanged?: boolean
  /** Has a lock, where a value stands that is not to be typed. */
  isLocked?: boolean
  /** What there is to know of it, also where it is disabled. */
  tip?: string | undefined
}

const asText = (value: number | null | undefined): string => (typeof value === 'number' ? String(value) : '')

const toFigure = (text: string): number | null => {
  const number = Number(text.trim())
  return text.trim() === '' || !Number.isFinite(number) ? null : number
}

/** A number in a row: what is typed stays as typed, also while it is none yet. */
export function FigureInput({
  value,
  onChange,
  label,
  placeholder,
  disabled = false,
  align = 'end',
  isChanged = false,
  isLocked = false,
  tip,
}: FigureInputProps) {
  const [typed, setTyped] = useState(asText(value))
  useEffect(() => {
    setTyped((before) => (Number.isNaN(value) || toFigure(before) === (value ?? null) ? before : asText(value)))
  }, [value])
  const field = (
    <Input
      size="sm"
      aria-label={label}
      aria-invalid={value === null || (typeof value === 'number' && !(value >= 0)) || undefined}
      inputMode="decimal"
      autoComplete="off"
      textAlign={align}
      value={typed}
      placeholder={placeholder}
      disabled={disabled}
      borderColor={isChanged ? 'accent.solid' : undefined}
      fontWeight={isChanged ? 'medium' : undefined}
      aria-description={tip}
      // Nothing can be pointed at in a field that is disabled: what stands around it has the tip.
      pointerEvents={disabled ? 'none' : undefined}
      onChange={(event) => {
        const text = event.target.value
        const figure = toFigure(text)
        setTyped(text)
        onChange(figure, figure !== null || text.trim() === '')
      }}
    />
  )
  return (
    <Box data-tip={tip}>
      {isLocked ? <InputGroup startElement={<Lock size={12} aria-hidden />}>{field}</InputGroup> : field}
    </Box>
  )
}
