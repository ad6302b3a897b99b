import { Input } from '@chakra-ui/react'
import { useEffect, useState } from 'react'

type FigureInputProps = {
  /** Null while what is typed is no number; undefined where there is none. */
  value: number | null | undefined
  onChange: (value: number | null) => void
  label: string
  placeholder?: string
  disabled?: boolean
}

const asText = (value: number | null | undefined): string => (typeof value === 'number' ? String(value) : '')

const toFigure = (text: string): number | null => {
  const number = Number(text.trim())
  return text.trim() === '' || !Number.isFinite(number) ? null : number
}

/** A number in a row: what is typed stays as typed, also while it is none yet. */
export function FigureInput({ value, onChange, label, placeholder, disabled = false }: FigureInputProps) {
  const [typed, setTyped] = useState(asText(value))
  useEffect(() => {
    setTyped((before) => (toFigure(before) === (value ?? null) ? before : asText(value)))
  }, [value])
  return (
    <Input
      size="sm"
      aria-label={label}
      aria-invalid={value === null || (typeof value === 'number' && value < 0) || undefined}
      inputMode="decimal"
      autoComplete="off"
      textAlign="end"
      value={typed}
      placeholder={placeholder}
      disabled={disabled}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(toFigure(event.target.value))
      }}
    />
  )
}
