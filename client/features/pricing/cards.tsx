import { Box, Flex, HStack, SimpleGrid, Stack, Text, chakra } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Pager } from '../../components/data-table/pager.tsx'
import { t } from '../../i18n/t.ts'
import type { Paging } from '../../lib/table-state.ts'
import { Dollar, kindText } from './columns.tsx'
import type { PriceLine } from './use-prices.ts'

const Card = chakra('button', {
  base: {
    display: 'block',
    textAlign: 'start',
    borderWidth: '1px',
    borderRadius: 'l3',
    bg: 'bg.panel',
    p: '3.5',
    cursor: 'pointer',
    focusVisibleRing: 'outside',
    _hover: { borderColor: 'border.emphasized' },
  },
})

type PriceCardsProps = {
  lines: readonly PriceLine[]
  onOpen: (model: string) => void
  toolbar: ReactNode
  empty: ReactNode
  paging: Paging
  total: number
}

export function PriceCards({ lines, onOpen, toolbar, empty, paging, total }: PriceCardsProps) {
  return (
    <Stack gap="3">
      {toolbar}
      {lines.length === 0 ? (
        <Box layerStyle="panel">{empty}</Box>
      ) : (
        <>
          <SimpleGrid columns={{ base: 1, sm: 2, lg: 3 }} gap="3">
            {lines.map((line) => (
              <Card key={line.model} type="button" onClick={() => onOpen(line.model)}>
                <Text as="span" display="block" fontFamily="mono" textStyle="sm" fontWeight="medium" truncate>
                  {line.model}
                </Text>
                <Text as="span" display="block" textStyle="xs" color="fg.muted" mb="3">
                  {[line.vendor, kindText(line.price.kind)].filter(Boolean).join(' · ')}
                </Text>
                <Prices line={line} />
              </Card>
            ))}
          </SimpleGrid>
          <Pager paging={paging} data={{ items: lines, total }} />
        </>
      )}
    </Stack>
  )
}

function Prices({ line: { dollars } }: { line: PriceLine }) {
  const figures: [string, number | null][] =
    dollars.call === null
      ? [
          [t('输入 / 1M'), dollars.input],
          [t('输出 / 1M'), dollars.output],
          [t('缓存 / 1M'), dollars.cached],
        ]
      : [[t('单次价格'), dollars.call]]
  return (
    <HStack as="span" gap="5" align="flex-start" wrap="wrap">
      {figures.map(([label, value]) => (
        <Flex as="span" key={label} direction="column">
          <Text as="span" textStyle="xs" color="fg.muted">
            {label}
          </Text>
          <Text as="span" textStyle="sm" fontVariantNumeric="tabular-nums">
            <Dollar value={value} />
          </Text>
        </Flex>
      ))}
    </HStack>
  )
}
