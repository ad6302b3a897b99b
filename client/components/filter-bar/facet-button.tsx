import { Button, HStack, Popover, Portal, Text } from '@chakra-ui/react'
import { ListFilter, X } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { IconButton } from '../icon-button.tsx'
import { FacetInput, presetTitles } from './facet-input.tsx'
import type { Facet, FilterPatch, FilterValues } from './types.ts'
import { asList, asText, isSet } from './types.ts'

/** What a facet is set to, in words short enough for its button. */
function facetText(facet: Facet, values: FilterValues): string {
  const value = values[facet.id]
  if (facet.kind === 'text') return asText(value)
  if (facet.kind === 'bounds') return `${asText(value).replace('..', ' – ')} ${facet.unit}`
  if (facet.kind === 'range') {
    const chosen = asText(value)
    if (isRangePreset(chosen)) return t(presetTitles[chosen])
    const range = parseRange(chosen, new Date())
    return range ? `${formatTime(range.from).slice(0, 16)} – ${formatTime(range.to).slice(0, 16)}` : ''
  }
  const chosen = facet.kind === 'choice' ? [asText(value)].filter(Boolean) : asList(value)
  const choices = facet.kind === 'suggest' ? [] : facet.choices
  const labels = chosen.map((one) => choices.find((choice) => choice.value === one)?.label ?? one)
  return labels.length > 2 ? t('{count} 项', { count: labels.length }) : labels.join(', ')
}

type FacetButtonProps = { facet: Facet; values: FilterValues; onChange: (patch: FilterPatch) => void }

export const emptyOf = (facet: Facet): string | readonly string[] =>
  facet.kind === 'choices' || facet.kind === 'suggest' ? [] : ''

/** One facet: its name, what it is set to, and a way to take that away. */
export function FacetButton({ facet, values, onChange }: FacetButtonProps) {
  const [open, setOpen] = useState(false)
  const set = isSet(values[facet.id])
  return (
    <HStack gap="0">
      <Popover.Root
        open={open}
        onOpenChange={(details) => setOpen(details.open)}
        lazyMount
        unmountOnExit
        size="xs"
        positioning={{ placement: 'bottom-start' }}
      >
        <Popover.Trigger asChild>
          <Button
            maxW="72"
            borderStyle={set ? 'solid' : 'dashed'}
            borderEndRadius={set ? '0' : undefined}
            fontWeight="normal"
          >
            {!set && <ListFilter aria-hidden />}
            <Text as="span" color={set ? 'fg.muted' : undefined}>
              {facet.label}
            </Text>
            {set && (
              <Text as="span" truncate fontWeight="medium">
                {facetText(facet, values)}
              </Text>
            )}
          </Button>
        </Popover.Trigger>
        <Portal>
          <Popover.Positioner>
            <Popover.Content w="72" aria-label={facet.label}>
              <Popover.Body p="2">
                <FacetInput facet={facet} values={values} onChange={onChange} onDone={() => setOpen(false)} />
              </Popover.Body>
            </Popover.Content>
          </Popover.Positioner>
        </Portal>
      </Popover.Root>
      {set && (
        <IconButton
          icon={X}
          label={t('清除筛选 {name}', { name: facet.label })}
          variant="outline"
          borderStartWidth="0"
          borderStartRadius="0"
          minW="7"
          w="7"
          onClick={() => onChange({ [facet.id]: emptyOf(facet) })}
        />
      )}
    </HStack>
  )
}
