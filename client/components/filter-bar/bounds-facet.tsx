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
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (wrong) return
        onChange({ [facet.id]: next })
        onDone?.()
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
          />
          <Text color="fg.muted">–</Text>
          <Input
            inputMode="decimal"
            value={to}
            placeholder={t('至多')}
            aria-label={`${facet.label}: ${t('至多')}`}
            aria-invalid={wrong || undefined}
            onChange={(event) => setTo(event.target.value)}
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
