import { Button, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import type { Facet, FilterPatch } from './types.ts'
import { parseBounds } from './types.ts'

type BoundsFacetProps = {
  facet: Extract<Facet, { kind: 'bounds' }>
  value: string
  onChange: (patch: FilterPatch) => void
  onDone?: (() => void) | undefined
}

/** At least and at most. */
export function BoundsFacet({ facet, value, onChange, onDone }: BoundsFacetProps) {
  const known = parseBounds(value)
  const [from, setFrom] = useState(known?.from === undefined ? '' : String(known.from))
  const [to, setTo] = useState(known?.to === undefined ? '' : String(known.to))
  const next = from.trim() === '' && to.trim() === '' ? '' : `${from.trim()}..${to.trim()}`
  const wrong = next !== '' && parseBounds(next) === undefined
  const apply = () => {
    if (wrong) return
    if (next !== value) onChange({ [facet.id]: next })
    onDone?.()
  }
  // Beside others it is applied when it is left, as they are.
  const leave = onDone === undefined && next !== value ? apply : undefined
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Stack gap="2">
        <HStack gap="2">
          <Input
            autoFocus={onDone !== undefined}
            inputMode="decimal"
            value={from}
            placeholder={t('至少')}
            aria-label={`${facet.label}: ${t('至少')}`}
            aria-invalid={wrong || undefined}
            onChange={(event) => setFrom(event.target.value)}
            onBlur={leave}
          />
          <Text color="fg.muted">–</Text>
          <Input
            inputMode="decimal"
            value={to}
            placeholder={t('至多')}
            aria-label={`${facet.label}: ${t('至多')}`}
            aria-invalid={wrong || undefined}
            onChange={(event) => setTo(event.target.value)}
            onBlur={leave}
          />
          <Text color="fg.muted">{facet.unit}</Text>
        </HStack>
        {wrong && (
          <Text role="alert" color="bad.fg" textStyle="xs">
            {t('请输入数字，前一个不大于后一个')}
          </Text>
        )}
        <Button type="submit" disabled={wrong}>
          {t('应用')}
        </Button>
      </Stack>
    </form>
  )
}
