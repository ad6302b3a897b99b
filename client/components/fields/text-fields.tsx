import { HStack, Input, InputGroup, mergeRefs, Textarea } from '@chakra-ui/react'
import { Eye, EyeOff } from 'lucide-react'
import type { HTMLInputAutoCompleteAttribute, ReactNode } from 'react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { CopyButton } from '../copy.tsx'
import { IconButton } from '../icon-button.tsx'
import { JsonEditor } from '../json-editor.tsx'
import { jsonProblem } from '../../lib/json.ts'
import { useFirstFocus } from '../../lib/first-focus.ts'
import type { BoundField, FieldProps } from './field-frame.tsx'
import { FieldFrame, useField, useNumberField } from './field-frame.tsx'

type TextFieldProps = FieldProps & {
  type?: 'text' | 'email' | 'url'
  placeholder?: string
  autoComplete?: HTMLInputAutoCompleteAttribute
  autoFocus?: boolean
  readOnly?: boolean
  /** Ids, paths, patterns. */
  mono?: boolean
  /** A button inside the field's line, as one that sends a code. */
  end?: ReactNode
}

const words = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value)

/** The input for its form, which gets the focus as it first stands where that is wanted. */
function useInput(field: BoundField['field'], isFocused = false) {
  const input = useRef<HTMLInputElement>(null)
  useFirstFocus(input, isFocused)
  return useMemo(() => mergeRefs(field.ref, input), [field.ref])
}

export function TextField({
  name,
  type = 'text',
  placeholder,
  autoComplete = 'off',
  autoFocus,
  readOnly,
  mono,
  end,
  ...frame
}: TextFieldProps) {
  const { field, state } = useField(name)
  const ref = useInput(field, autoFocus)
  const input = (
    <Input
      {...field}
      ref={ref}
      value={words(field.value)}
      type={type}
      placeholder={placeholder}
      autoComplete={autoComplete}
      readOnly={readOnly}
      fontFamily={mono ? 'mono' : undefined}
    />
  )
  return (
    <FieldFrame {...frame} state={state}>
      {end ? (
        <HStack w="full" gap="2">
          {input}
          {end}
        </HStack>
      ) : (
        input
      )}
    </FieldFrame>
  )
}

type SecretFieldProps = FieldProps & {
  /** No "off": browsers would still fill in the password of whoever is signed in. */
  autoComplete?: 'current-password' | 'new-password'
  autoFocus?: boolean
  /** For keys that may be taken along; passwords may not. */
  copyable?: boolean
}

/** Hidden until it is shown. */
export function SecretField({
  name,
  autoComplete = 'new-password',
  autoFocus,
  copyable = false,
  ...frame
}: SecretFieldProps) {
  const { field, state } = useField(name)
  const ref = useInput(field, autoFocus)
  const [shown, setShown] = useState(false)
  const value = words(field.value)
  return (
    <FieldFrame {...frame} state={state}>
      <InputGroup
        endElementProps={{ px: '1' }}
        endElement={
          <HStack gap="0">
            <IconButton
              size="2xs"
              icon={shown ? EyeOff : Eye}
              label={shown ? t('隐藏 {name}', { name: frame.label }) : t('显示 {name}', { name: frame.label })}
              onClick={() => setShown(!shown)}
            />
            {copyable && value !== '' && (
              <CopyButton size="2xs" text={value} label={t('复制 {name}', { name: frame.label })} />
            )}
          </HStack>
        }
      >
        <Input
          {...field}
          ref={ref}
          value={value}
          type={shown ? 'text' : 'password'}
          autoComplete={autoComplete}
          spellCheck={false}
          fontFamily={shown ? 'mono' : undefined}
        />
      </InputGroup>
    </FieldFrame>
  )
}

type TextareaFieldProps = FieldProps & { rows?: number; placeholder?: string; mono?: boolean }

/** Grows with its text, from `rows` to twelve lines. */
export function TextareaField({ name, rows = 3, placeholder, mono = false, ...frame }: TextareaFieldProps) {
  const { field, state } = useField(name)
  return (
    <FieldFrame {...frame} state={state}>
      <Textarea
        {...field}
        value={words(field.value)}
        rows={rows}
        autoresize
        maxH="18rem"
        placeholder={placeholder}
        fontFamily={mono ? 'mono' : undefined}
        textStyle={mono ? 'xs' : undefined}
        spellCheck={!mono}
      />
    </FieldFrame>
  )
}

type NumberFieldProps = FieldProps & {
  placeholder?: string
  /** What is counted: 秒, 次, %. */
  unit?: string
  /** An empty field is null, not an error. */
  nullable?: boolean
}

const asText = (value: unknown): string => (typeof value === 'number' && Number.isFinite(value) ? String(value) : '')

/** Commas stand between thousands and nowhere else: where one may be a decimal point, nobody knows what was meant. */
function readNumber(text: string): number {
  const plain = text.trim()
  return /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(plain) ? Number(plain.replaceAll(',', '')) : Number(plain)
}

/** What is typed stays as typed; the form sees a number, or `NaN`, which no schema accepts. */
function useNumberText(value: unknown, onChange: (value: number | null) => void, nullable: boolean) {
  const [typed, setTyped] = useState(asText(value))
  useEffect(() => {
    // A value set from outside (a preset, a reset) replaces what was typed.
    setTyped((before) =>
      before !== '' && readNumber(before) === value ? before : Number.isNaN(value) ? before : asText(value),
    )
  }, [value])
  const change = (text: string) => {
    setTyped(text)
    onChange(text.trim() === '' ? (nullable ? null : Number.NaN) : readNumber(text))
  }
  return [typed, change] as const
}

export function NumberField({ name, placeholder, unit, nullable = false, ...frame }: NumberFieldProps) {
  const { field, state } = useNumberField(name)
  const [typed, change] = useNumberText(field.value, field.onChange, nullable)
  return (
    <FieldFrame {...frame} state={state}>
      <InputGroup endElement={unit}>
        <Input
          ref={field.ref}
          name={name}
          value={typed}
          inputMode="decimal"
          autoComplete="off"
          placeholder={placeholder}
          onBlur={field.onBlur}
          onChange={(event) => change(event.target.value)}
        />
      </InputGroup>
    </FieldFrame>
  )
}

type JsonFieldProps = FieldProps & { rows?: number; placeholder?: string; optional?: boolean }

export function JsonField({ name, rows, placeholder, optional, ...frame }: JsonFieldProps) {
  const { field, state } = useField(name)
  const value = words(field.value)
  return (
    <FieldFrame {...frame} state={state} isReported={jsonProblem(value, optional) !== undefined}>
      <JsonEditor
        value={value}
        onChange={field.onChange}
        onBlur={field.onBlur}
        inputRef={field.ref}
        rows={rows}
        placeholder={placeholder}
        optional={optional}
        invalid={state.invalid}
        disabled={frame.disabled}
      />
    </FieldFrame>
  )
}
