import { Button, HStack, Input, mergeRefs, Stack } from '@chakra-ui/react'
import { useMemo, useRef } from 'react'
import { t } from '../../i18n/t.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useField } from './field-frame.tsx'

type TimePreset = { label: string; /** Null is "never" or "unset". */ time: () => Date | null }
type TimeFieldProps = FieldProps & { presets?: readonly TimePreset[] }

const asDate = (value: unknown): Date | null => (value instanceof Date ? value : null)

const isValid = (time: Date | null): boolean => time !== null && !Number.isNaN(time.getTime())

/** What is typed in part, or is on no calendar, is a time that no rule accepts: as null it would be saved as "never". */
const typedIn = (element: HTMLInputElement): Date | null =>
  element.validity.badInput ? new Date(Number.NaN) : fromLocalInput(element.value)

/** A moment in the reader's own zone; the form's value is a `Date`, or null. */
export function TimeField({ name, presets, ...frame }: TimeFieldProps) {
  const { field, state } = useField(name)
  const value = asDate(field.value)
  // A field that is filled in part, or emptied of a part, sends no change.
  const lookAgain = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const isBad = value !== null && !isValid(value)
    if (currentTarget.validity.badInput !== isBad) field.onChange(typedIn(currentTarget))
  }
  const input = useRef<HTMLInputElement>(null)
  const ref = useMemo(() => mergeRefs(field.ref, input), [field.ref])
  const set = (time: Date | null) => {
    field.onChange(time)
    // What is typed in part is nothing that React knows of.
    if (time === null && input.current) input.current.value = ''
  }
  return (
    <FieldFrame {...frame} state={state}>
      <Stack gap="2" w="full">
        <HStack gap="2">
          <Input
            ref={ref}
            name={name}
            type="datetime-local"
            value={value && isValid(value) ? toLocalInput(value) : ''}
            onKeyUp={lookAgain}
            onBlur={(event) => {
              lookAgain(event)
              field.onBlur()
            }}
            onChange={(event) => field.onChange(typedIn(event.target))}
          />
          {value && (
            <Button variant="ghost" onClick={() => set(null)}>
              {t('清除')}
            </Button>
          )}
        </HStack>
        {presets && (
          <HStack gap="1" wrap="wrap">
            {presets.map((preset) => (
              <Button key={preset.label} size="2xs" disabled={frame.disabled} onClick={() => set(preset.time())}>
                {preset.label}
              </Button>
            ))}
          </HStack>
        )}
      </Stack>
    </FieldFrame>
  )
}
