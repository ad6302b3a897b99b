import { Button, Field, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import type { PlainText } from '../../i18n/t.ts'
import { t, text } from '../../i18n/t.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import type { RangePreset } from '../../lib/time-range.ts'
import { useNow } from '../../lib/now.ts'
import { formatRange, parseRange, rangePresets } from '../../lib/time-range.ts'
import { BoundsFacet } from './bounds-facet.tsx'
import { SuggestFacet } from './suggest-facet.tsx'
import { Check } from '../check.tsx'
import { Option } from '../option-label.tsx'
import type { Choice } from '../picker.tsx'
import type { Facet, FilterPatch, FilterValues } from './types.ts'
import { asList, asText } from './types.ts'

export const presetTitles: Record<RangePreset, PlainText> = {
  '1h': text('近 1 小时'),
  today: text('今天'),
  '24h': text('近 24 小时'),
  '7d': text('近 7 天'),
  '30d': text('近 30 天'),
}

type FacetInputProps = {
  facet: Facet
  values: FilterValues
  onChange: (patch: FilterPatch) => void
  /** After a choice that needs no second one. */
  onDone?: () => void
}

/** What a facet's button opens; in the phone's sheet it stands open. */
export function FacetInput({ facet, values, onChange, onDone }: FacetInputProps) {
  const value = values[facet.id]
  // Where several stand below each other, the last of them would have the focus.
  const isAlone = onDone !== undefined
  if (facet.kind === 'text')
    return <TextFacet facet={facet} value={asText(value)} onChange={onChange} onDone={onDone} />
  if (facet.kind === 'range')
    return <RangeFacet facet={facet} value={asText(value)} onChange={onChange} onDone={onDone} />
  if (facet.kind === 'bounds')
    return <BoundsFacet facet={facet} value={asText(value)} onChange={onChange} onDone={onDone} />
  if (facet.kind === 'suggest')
    return (
      <SuggestFacet
        facet={facet}
        chosen={asList(value)}
        isAlone={isAlone}
        onChange={(next) => onChange({ [facet.id]: next })}
      />
    )
  const multiple = facet.kind === 'choices'
  const chosen = multiple ? asList(value) : [asText(value)].filter(Boolean)
  const toggle = (choice: Choice, on: boolean) => {
    if (multiple)
      return onChange({ [facet.id]: on ? [...chosen, choice.value] : chosen.filter((one) => one !== choice.value) })
    onChange({ [facet.id]: on ? choice.value : '' })
    onDone?.()
  }
  return <ChoiceList label={facet.label} choices={facet.choices} chosen={chosen} isAlone={isAlone} onToggle={toggle} />
}

type ChoiceListProps = {
  label: string
  choices: readonly Choice[]
  chosen: readonly string[]
  isAlone: boolean
  onToggle: (choice: Choice, on: boolean) => void
}

/** More than this are searched, not scanned. */
const scanned = 8

function ChoiceList({ label, choices, chosen, isAlone, onToggle }: ChoiceListProps) {
  const [typed, setTyped] = useState('')
  const words = typed.trim().toLowerCase()
  const shown = choices.filter((choice) => choice.label.toLowerCase().includes(words)).slice(0, 200)
  return (
    <Stack gap="1">
      {choices.length > scanned && (
        <Input
          autoFocus={isAlone}
          value={typed}
          placeholder={t('输入以搜索')}
          aria-label={t('搜索 {name}', { name: label })}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      <Stack gap="0" maxH="64" overflowY="auto" role="group" aria-label={label}>
        {shown.map((choice) => (
          <Option key={choice.value}>
            <Check checked={chosen.includes(choice.value)} onChange={(on) => onToggle(choice, on)} />
            <Text as="span" truncate flex="1">
              {choice.label}
            </Text>
            {choice.note && (
              <Text as="span" color="fg.subtle" textStyle="xs">
                {choice.note}
              </Text>
            )}
          </Option>
        ))}
        {shown.length === 0 && (
          <Text px="2" py="1.5" color="fg.muted" textStyle="sm">
            {t('没有匹配项')}
          </Text>
        )}
      </Stack>
    </Stack>
  )
}

type ValueProps = {
  facet: Facet
  value: string
  onChange: (patch: FilterPatch) => void
  onDone?: (() => void) | undefined
}

function TextFacet({ facet, value, onChange, onDone }: ValueProps) {
  const [typed, setTyped] = useState(value)
  const apply = () => {
    const next = typed.trim()
    if (next !== value) onChange({ [facet.id]: next })
    onDone?.()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <HStack gap="2">
        <Input
          autoFocus={onDone !== undefined}
          value={typed}
          aria-label={facet.label}
          placeholder={facet.kind === 'text' ? facet.placeholder : undefined}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => onDone === undefined && apply()}
        />
        {onDone && (
          <Button type="submit" variant="solid">
            {t('应用')}
          </Button>
        )}
      </HStack>
    </form>
  )
}

function RangeFacet({ facet, value, onChange, onDone }: ValueProps) {
  const now = useNow()
  const range = parseRange(value, now)
  const [typed, setTyped] = useState<{ from?: string; to?: string }>({})
  const from = typed.from ?? (range ? toLocalInput(range.from) : '')
  const to = typed.to ?? toLocalInput(range?.to ?? now)
  const start = fromLocalInput(from)
  const end = fromLocalInput(to)
  const chosen = start && end && start < end ? formatRange({ from: start, to: end }) : undefined
  const apply = (next: string) => {
    if (next !== value) onChange({ [facet.id]: next })
    setTyped({})
    onDone?.()
  }
  // Beside others it is applied when it is left, as they are.
  const isTyped = typed.from !== undefined || typed.to !== undefined
  const leave = onDone === undefined && isTyped && chosen !== undefined ? () => apply(chosen) : undefined
  return (
    <Stack gap="3">
      <HStack gap="1" wrap="wrap">
        {rangePresets.map((preset) => (
          <Button
            key={preset}
            size="xs"
            variant={value === preset ? 'subtle' : 'outline'}
            aria-pressed={value === preset}
            onClick={() => apply(preset)}
          >
            {t(presetTitles[preset])}
          </Button>
        ))}
      </HStack>
      <Stack gap="2">
        <Moment
          label={t('开始时间')}
          value={from}
          onChange={(moment) => setTyped({ ...typed, from: moment })}
          onBlur={leave}
        />
        <Moment
          label={t('结束时间')}
          value={to}
          onChange={(moment) => setTyped({ ...typed, to: moment })}
          onBlur={leave}
        />
        <Button disabled={chosen === undefined} onClick={() => chosen !== undefined && apply(chosen)}>
          {t('应用')}
        </Button>
      </Stack>
    </Stack>
  )
}

type MomentProps = {
  label: string
  value: string
  onChange: (moment: string) => void
  onBlur: (() => void) | undefined
}

function Moment({ label, value, onChange, onBlur }: MomentProps) {
  return (
    <Field.Root gap="1">
      <Field.Label textStyle="xs" color="fg.muted">
        {label}
      </Field.Label>
      <Input type="datetime-local" value={value} onChange={(event) => onChange(event.target.value)} onBlur={onBlur} />
    </Field.Root>
  )
}
