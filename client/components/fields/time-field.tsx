import { Button, HStack, Input, Stack } from '@chakra-ui/react'
import { t } from '../../i18n/t.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useField } from './field-frame.tsx'

type TimePreset = { label: string; /** Null is "never" or "unset". */ time: () => Date | null }
type TimeFieldProps = FieldProps & { presets?: readonly TimePreset[] }

const asDate = (value: unknown): Date | null => (value instanceof Date ? value : null)

/** A moment in the reader's own zone; the form's value is a `Date`, or null. */
export function TimeField({ name, presets, ...frame }: TimeFieldProps) {
  const { field, state } = useField(name)
  const value = asDate(field.value)
  return (
    <FieldFrame {...frame} state={state}>
      <Stack gap="2" w="full">
        <HStack gap="2">
          <Input
            ref={field.ref}
            name={name}
            type="datetime-local"
            value={value ? toLocalInput(value) : ''}
            onBlur={field.onBlur}
            onChange={(event) => field.onChange(fromLocalInput(event.target.value))}
          />
          {value && (
            <Button variant="ghost" onClick={() => field.onChange(null)}>
              {t('清除')}
            </Button>
          )}
        </HStack>
        {presets && (
          <HStack gap="1" wrap="wrap">
            {presets.map((preset) => (
              <Button
                key={preset.label}
                size="2xs"
                disabled={frame.disabled}
                onClick={() => field.onChange(preset.time())}
              >
                {preset.label}
              </Button>
            ))}
          </HStack>
        )}
      </Stack>
    </FieldFrame>
  )
}
