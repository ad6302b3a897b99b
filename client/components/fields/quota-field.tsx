import { Button, HStack, Input, InputGroup, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { dollarsToQuota, quotaToDollars } from '#core/quota.ts'
import { t } from '../../i18n/t.ts'
import { formatInteger, quotaText } from '../../lib/format.ts'
import { useStatus } from '../../lib/status.ts'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useNumberField } from './field-frame.tsx'

type QuotaFieldProps = FieldProps & {
  /** Amounts in dollars to choose with one click. */
  presets?: readonly number[]
  /** The amount may be taken away. */
  negative?: boolean
  /** What counts where the field stays blank, which it may with this: its value is null then. */
  instead?: number
}

const shorten = (number: number): string => String(Number(number.toFixed(6)))

/** An amount of quota, typed in dollars where the site shows dollars; the form's value is in units. */
export function QuotaField({ name, presets, negative = false, instead, ...frame }: QuotaFieldProps) {
  const { field, state } = useNumberField(name)
  const { displayInCurrency, quotaPerUnit } = useStatus()
  const isBlank = instead !== undefined && field.value === null
  const units = typeof field.value === 'number' ? field.value : Number.NaN
  const toText = (quota: number) => (displayInCurrency ? shorten(quotaToDollars(quota, quotaPerUnit)) : String(quota))
  const toUnits = (text: string) => {
    if (text.trim() === '') return Number.NaN
    return displayInCurrency ? dollarsToQuota(Number(text), quotaPerUnit) : Math.round(Number(text))
  }
  const [typed, setTyped] = useState(Number.isNaN(units) ? '' : toText(units))
  useEffect(() => {
    setTyped((before) => {
      if (isBlank) return ''
      return Number.isNaN(units) || toUnits(before) === units ? before : toText(units)
    })
    // Only a value set from outside rewrites what was typed.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [units, isBlank])
  const other = Number.isNaN(units)
    ? ''
    : displayInCurrency
      ? t('{count} 额度', { count: formatInteger(units) })
      : quotaText(units)
  return (
    <FieldFrame {...frame} state={state}>
      <Stack gap="2" w="full">
        <InputGroup
          startElement={displayInCurrency ? '$' : undefined}
          endElement={
            <Text textStyle="xs" color="fg.muted">
              {other}
            </Text>
          }
          endElementProps={{ pointerEvents: 'none' }}
        >
          <Input
            ref={field.ref}
            name={name}
            value={typed}
            inputMode={negative ? 'text' : 'decimal'}
            placeholder={instead === undefined ? undefined : toText(instead)}
            autoComplete="off"
            onBlur={field.onBlur}
            onChange={(event) => {
              setTyped(event.target.value)
              const { value } = event.target
              field.onChange(instead !== undefined && value.trim() === '' ? null : toUnits(value))
            }}
          />
        </InputGroup>
        {presets && (
          <HStack gap="1" wrap="wrap">
            {presets.map((dollars) => (
              <Button
                key={dollars}
                size="2xs"
                disabled={frame.disabled}
                onClick={() => field.onChange(dollarsToQuota(dollars, quotaPerUnit))}
              >
                ${dollars}
              </Button>
            ))}
          </HStack>
        )}
      </Stack>
    </FieldFrame>
  )
}
