import { Text } from '@chakra-ui/react'
import { ModelName, Tags } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'
import { abbreviate, priceText } from '../../lib/format.ts'
import type { PriceLine } from './use-prices.ts'

export const kindText = (kind: PriceLine['price']['kind']): string => (kind === 'call' ? t('按次计费') : t('按量计费'))

export function Dollar({ value }: { value: number | null }) {
  return value === null ? <None /> : <span>{priceText(value)}</span>
}

/** The price of a short prompt, and below it what the first step of long ones costs. */
function WithLong({ line, figure }: { line: PriceLine; figure: 'input' | 'output' }) {
  const [long] = line.longPrices
  return (
    <>
      <Dollar value={line.dollars[figure]} />
      {long && (
        <Text as="span" display="block" textStyle="xs" color="fg.muted">
          {`>${abbreviate(long.above)} ${priceText(long.dollars[figure] ?? 0)}`}
        </Text>
      )}
    </>
  )
}

const isByTokens = ({ dollars }: PriceLine): boolean => dollars.call === null

export const priceColumns = (): Column<PriceLine>[] => [
  {
    id: 'model',
    title: t('模型'),
    width: 260,
    grow: true,
    fixed: true,
    sortable: true,
    card: 'title',
    cell: ({ model }) => <ModelName name={model} />,
    csv: ({ model }) => model,
  },
  { id: 'vendor', title: t('厂商'), width: 110, cell: ({ vendor }) => vendor ?? <None />, csv: ({ vendor }) => vendor },
  {
    id: 'kind',
    title: t('计费方式'),
    width: 110,
    cell: ({ price }) => kindText(price.kind),
    csv: ({ price }) => price.kind,
  },
  {
    id: 'input',
    title: t('输入 / 1M'),
    width: 120,
    align: 'end',
    sortable: true,
    card: 'fact',
    cardIf: isByTokens,
    cell: (line) => <WithLong line={line} figure="input" />,
    csv: ({ dollars }) => dollars.input,
  },
  {
    id: 'output',
    title: t('输出 / 1M'),
    width: 120,
    align: 'end',
    sortable: true,
    card: 'fact',
    cardIf: isByTokens,
    cell: (line) => <WithLong line={line} figure="output" />,
    csv: ({ dollars }) => dollars.output,
  },
  {
    id: 'cached',
    title: t('缓存 / 1M'),
    width: 120,
    align: 'end',
    card: 'fact',
    cardIf: isByTokens,
    cell: ({ dollars }) => <Dollar value={dollars.cached} />,
    csv: ({ dollars }) => dollars.cached,
  },
  {
    id: 'call',
    title: t('单次价格'),
    width: 110,
    align: 'end',
    card: 'fact',
    cardIf: (line) => !isByTokens(line),
    cell: ({ dollars }) => <Dollar value={dollars.call} />,
    csv: ({ dollars }) => dollars.call,
  },
  {
    id: 'groups',
    title: t('可用分组'),
    width: 170,
    cell: ({ groups }) => <Tags values={groups} most={2} />,
    csv: ({ groups }) => groups.join(' '),
  },
]
