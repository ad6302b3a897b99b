import { Box, Button, Drawer, Flex, HStack, Input, InputGroup, Kbd, Portal, Stack, Text } from '@chakra-ui/react'
import { ListFilter, Search } from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { isComposing, isTyping } from '../../lib/keyboard.ts'
import { useIsPhone } from '../../lib/use-media.ts'
import { UnreadableNotice } from '../unreadable-notice.tsx'
import { FacetButton, emptyOf } from './facet-button.tsx'
import { FacetInput } from './facet-input.tsx'
import type { Facet, FilterPatch, FilterValues } from './types.ts'
import { asText, isSet, isUnreadable } from './types.ts'

export type FilterBarProps = {
  /** The id of the text query among the values; without it there is no search field. */
  query?: { id: string; placeholder: string }
  facets?: readonly Facet[]
  /** From `useUrlState(…, ['page'])`, whose setter is `onChange`. */
  values: FilterValues
  onChange: (patch: FilterPatch, options?: { replace?: boolean }) => void
  /** After the facets: toggles that are no filters. */
  extra?: ReactNode
  /** Facets whose values the page cannot read, beside ranges and bounds, which are validated here. */
  unreadable?: readonly string[]
  /** What a filter that cannot be read goes back to; nothing where it is left out. */
  defaults?: FilterValues
  /** What is shown although a filter cannot be read; left out where nothing is. */
  instead?: string | undefined
  /** Nothing is shown then, which stands in its place. */
  isRefused?: boolean
}

/** A text query and facets; `/` goes to the query. On phones the facets open in a sheet. */
export function FilterBar(props: FilterBarProps) {
  const { query, facets = [], values, onChange, extra, unreadable, defaults, instead, isRefused } = props
  const phone = useIsPhone()
  const shown = facets.filter((facet) => !facet.hidden)
  // Lists over time always have a range, which is no reason why there is little.
  const narrowing = shown.filter((facet) => facet.kind !== 'range')
  const set = narrowing.filter((facet) => isSet(values[facet.id]))
  const hasQuery = query !== undefined && isSet(values[query.id])
  const reset = () =>
    onChange({
      ...Object.fromEntries(narrowing.map((facet) => [facet.id, emptyOf(facet)])),
      ...(query && { [query.id]: '' }),
    })
  return (
    <Flex role="search" aria-label={query?.placeholder ?? t('筛选')} gap="2" wrap="wrap" align="center">
      {query && (
        <QueryInput
          value={asText(values[query.id])}
          placeholder={query.placeholder}
          onChange={(words) => onChange({ [query.id]: words }, { replace: true })}
        />
      )}
      {phone ? (
        shown.length > 0 && (
          <FilterSheet facets={shown} count={set.length} values={values} onChange={onChange} onReset={reset} />
        )
      ) : (
        <>
          {shown.map((facet) => (
            <FacetButton key={facet.id} facet={facet} values={values} onChange={onChange} />
          ))}
          {shown.length > 0 && (set.length > 0 || hasQuery) && (
            <Button variant="ghost" onClick={reset}>
              {t('清除筛选')}
            </Button>
          )}
        </>
      )}
      {extra}
      <UnreadableFilters
        facets={facets.filter((facet) => unreadable?.includes(facet.id) || isUnreadable(facet, values))}
        defaults={defaults}
        instead={instead}
        isRefused={isRefused}
        onChange={onChange}
      />
    </Flex>
  )
}

type UnreadableFiltersProps = Pick<FilterBarProps, 'onChange' | 'instead' | 'isRefused'> & {
  facets: readonly Facet[]
  defaults: FilterBarProps['defaults']
}

/** A filter that cannot be read is not left out silently. Those that are hidden are named too: an address may set them. */
function UnreadableFilters({ facets, defaults, instead, isRefused = false, onChange }: UnreadableFiltersProps) {
  if (facets.length === 0) return null
  const names = facets.map(({ label }) => label).join(', ')
  const empty = (facet: Facet) => (defaults?.[facet.id] ?? emptyOf(facet)) as string | readonly string[]
  const drop = () => onChange(Object.fromEntries(facets.map((facet) => [facet.id, empty(facet)])))
  return (
    <Box flexBasis="100%">
      <UnreadableNotice onClear={drop}>
        {isRefused
          ? t('地址中的筛选条件无法识别：{names}', { names })
          : t('地址中的筛选条件无法识别，未按其筛选：{names}', { names })}
        {instead && <Text>{instead}</Text>}
      </UnreadableNotice>
    </Box>
  )
}

const pauseMilliseconds = 300

function useSlashFocus(input: RefObject<HTMLInputElement | null>) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.metaKey || event.ctrlKey || isTyping(event.target)) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [input])
}

type QueryInputProps = { value: string; placeholder: string; onChange: (words: string) => void }

/** Searches when typing pauses, or at once with Enter. */
function QueryInput({ value, placeholder, onChange }: QueryInputProps) {
  const [typed, setTyped] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const phone = useIsPhone()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useSlashFocus(input)
  // A space after a word that was searched for is the beginning of the next one.
  useEffect(() => setTyped((before) => (before.trim() === value ? before : value)), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (words: string) => {
    clearTimeout(timer.current)
    if (words.trim() !== value) onChange(words.trim())
  }
  return (
    <InputGroup
      flex="1 1 220px"
      maxW={{ sm: '260px' }}
      startElement={<Search size={14} aria-hidden />}
      endElement={typed === '' && !phone ? <Kbd>/</Kbd> : undefined}
    >
      <Input
        ref={input}
        type="search"
        value={typed}
        placeholder={placeholder}
        aria-label={placeholder}
        onChange={(event) => {
          const words = event.target.value
          setTyped(words)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => search(words), pauseMilliseconds)
        }}
        // Whatever is pressed next is meant for what was typed, not undone by it.
        onBlur={() => search(typed)}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === 'Enter') search(typed)
          if (event.key === 'Escape') input.current?.blur()
        }}
      />
    </InputGroup>
  )
}

type FilterSheetProps = {
  facets: readonly Facet[]
  count: number
  values: FilterValues
  onChange: FilterBarProps['onChange']
  onReset: () => void
}

function FilterSheet({ facets, count, values, onChange, onReset }: FilterSheetProps) {
  const [open, setOpen] = useState(false)
  const [resets, setResets] = useState(0)
  return (
    <Drawer.Root
      open={open}
      onOpenChange={(details) => setOpen(details.open)}
      placement="bottom"
      lazyMount
      unmountOnExit
    >
      <Drawer.Trigger asChild>
        <Button>
          <ListFilter aria-hidden />
          {count > 0 ? t('筛选 ({count})', { count }) : t('筛选')}
        </Button>
      </Drawer.Trigger>
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content maxH="85dvh" borderTopRadius="xl">
            <Drawer.Header py="3">
              <Drawer.Title>{t('筛选')}</Drawer.Title>
            </Drawer.Header>
            <Drawer.Body>
              <Stack gap="5">
                {facets.map((facet) => (
                  // What was typed goes with a reset.
                  <Stack key={`${facet.id} ${resets}`} gap="2">
                    <Text textStyle="label">{facet.label}</Text>
                    <FacetInput facet={facet} values={values} onChange={onChange} />
                  </Stack>
                ))}
              </Stack>
            </Drawer.Body>
            <Drawer.Footer>
              <HStack w="full" gap="2">
                <Button
                  flex="1"
                  size="md"
                  disabled={count === 0}
                  onClick={() => {
                    onReset()
                    setResets(resets + 1)
                  }}
                >
                  {t('清除筛选')}
                </Button>
                <Button flex="1" size="md" variant="solid" onClick={() => setOpen(false)}>
                  {t('完成')}
                </Button>
              </HStack>
            </Drawer.Footer>
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  )
}
