import { Box, Flex, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { ChevronRight } from 'lucide-react'
import { t } from '../../i18n/t.ts'
import { isPlainClick, RowMenu } from './body.tsx'
import { Check } from '../check.tsx'
import type { Column, DataTableProps, RowId } from './types.ts'

type CardsProps<Row> = Pick<
  DataTableProps<Row>,
  'label' | 'rowId' | 'rowLabel' | 'rowActions' | 'onOpen' | 'isMuted'
> & {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  selected: ReadonlyMap<RowId, unknown> | undefined
  onSelect: (row: Row, selected: boolean) => void
  isStale: boolean
}

/** A card shows its heading and at most three facts. */
function parts<Row>(columns: readonly Column<Row>[]) {
  const title = columns.find((column) => column.card === 'title') ?? columns[0]
  const chosen = columns.filter((column) => column.card === 'fact')
  const rest = columns.filter((column) => column !== title)
  const facts = (row: Row) =>
    (chosen.length > 0 ? chosen : rest).filter(({ cardIf }) => cardIf?.(row) ?? true).slice(0, 3)
  return { title, facts }
}

export function Cards<Row>(props: CardsProps<Row>) {
  const { rows, columns, label, rowId, rowLabel, rowActions, onOpen, isMuted, selected, onSelect, isStale } = props
  const { title, facts } = parts(columns)
  return (
    <Stack as="ul" aria-label={label} gap="2" opacity={isStale ? 0.5 : 1} listStyleType="none">
      {rows.map((row) => (
        <Box
          as="li"
          key={rowId(row)}
          layerStyle="panel"
          p="3"
          textStyle="sm"
          color={isMuted?.(row) ? 'fg.subtle' : undefined}
          {...(onOpen && { cursor: 'pointer', _active: { bg: 'bg.subtle' } })}
          onClick={(event) => onOpen && isPlainClick(event) && onOpen(row)}
        >
          <HStack gap="2" mb="2">
            {selected && (
              <Check
                roomy
                aria-label={t('选择 {name}', { name: rowLabel(row) })}
                checked={selected.has(rowId(row))}
                disabled={isStale}
                onChange={(checked) => onSelect(row, checked)}
              />
            )}
            <Box flex="1" minW="0" fontWeight="medium" overflow="hidden" textOverflow="ellipsis">
              {onOpen ? (
                <Box
                  as="button"
                  textAlign="start"
                  maxW="full"
                  minH="6"
                  onClick={() => onOpen(row)}
                  aria-label={t('打开 {name}', { name: rowLabel(row) })}
                >
                  {title?.cell(row)}
                </Box>
              ) : (
                title?.cell(row)
              )}
            </Box>
            {rowActions && <RowMenu name={rowLabel(row)} actions={rowActions(row)} />}
            {onOpen && !rowActions && (
              <Box color="fg.subtle" flexShrink="0">
                <ChevronRight size={16} aria-hidden />
              </Box>
            )}
          </HStack>
          <Stack as="dl" gap="1">
            {facts(row).map((fact) => (
              <Flex key={fact.id} justify="space-between" gap="4">
                <Text as="dt" color="fg.muted" flexShrink="0">
                  {fact.title}
                </Text>
                <Box as="dd" minW="0" textAlign="end" overflow="hidden" textOverflow="ellipsis">
                  {fact.cell(row)}
                </Box>
              </Flex>
            ))}
          </Stack>
        </Box>
      ))}
    </Stack>
  )
}

export function SkeletonCards({ count }: { count: number }) {
  return (
    <Stack gap="2" aria-hidden>
      {Array.from({ length: count }, (_, index) => (
        <Stack key={index} layerStyle="panel" p="3" gap="3">
          <Skeleton h="4" w="50%" />
          <Skeleton h="3" w="full" />
          <Skeleton h="3" w="full" />
          <Skeleton h="3" w="80%" />
        </Stack>
      ))}
    </Stack>
  )
}
