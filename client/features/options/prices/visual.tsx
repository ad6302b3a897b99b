import { Button } from '@chakra-ui/react'
import { BadgeDollarSign, Pencil, Plus, Trash } from 'lucide-react'
import { useMemo } from 'react'
import type { PriceTables } from '#core/pricing/tables.ts'
import { ModelName } from '../../../components/cells/names.tsx'
import { None } from '../../../components/cells/numbers.tsx'
import { confirm } from '../../../components/confirm.tsx'
import { DataTable } from '../../../components/data-table/data-table.tsx'
import type { Column } from '../../../components/data-table/types.ts'
import { FilterBar } from '../../../components/filter-bar/filter-bar.tsx'
import { notify } from '../../../components/notify.ts'
import { EmptyState } from '../../../components/states.tsx'
import { t } from '../../../i18n/t.ts'
import { priceText } from '../../../lib/format.ts'
import { usePaged } from '../../../lib/paged.ts'
import { usePriceTables, useSetPrices } from '../../../lib/set-prices.ts'
import { currentStatus } from '../../../lib/status.ts'
import { useUrlState } from '../../../lib/url-state.ts'
import { newPrice, PriceForm } from './price-form.tsx'
import { rowsOf, toDollars, type PriceRow } from './rows.ts'

const figure = (value: number | null) => (value === null ? <None /> : value)
const dollars = (value: number | null) => (value === null ? <None /> : priceText(value))

const columns = (): Column<PriceRow>[] => [
  {
    id: 'model',
    title: t('模型'),
    grow: true,
    width: 240,
    fixed: true,
    card: 'title',
    cell: ({ model }) => <ModelName name={model} />,
    csv: ({ model }) => model,
  },
  {
    id: 'price',
    title: t('单次价格'),
    align: 'end',
    width: 110,
    card: 'fact',
    cell: ({ price }) => dollars(price),
    csv: ({ price }) => price,
  },
  {
    id: 'ratio',
    title: t('模型倍率'),
    align: 'end',
    width: 110,
    card: 'fact',
    cell: ({ price, ratio }) => figure(price === null ? ratio : null),
    csv: ({ price, ratio }) => (price === null ? ratio : null),
  },
  {
    id: 'completion',
    title: t('补全倍率'),
    align: 'end',
    width: 110,
    cell: ({ price, completionRatio }) => figure(price === null ? completionRatio : null),
    csv: ({ price, completionRatio }) => (price === null ? completionRatio : null),
  },
  {
    id: 'cache',
    title: t('缓存倍率'),
    align: 'end',
    width: 110,
    cell: ({ price, cacheRatio }) => figure(price === null ? cacheRatio : null),
    csv: ({ price, cacheRatio }) => (price === null ? cacheRatio : null),
  },
  {
    id: 'input',
    title: t('输入 / 1M'),
    align: 'end',
    width: 110,
    card: 'fact',
    cell: (row) => dollars(row.price === null ? toDollars(row, currentStatus().quotaPerUnit).input : null),
  },
]

/** The price tables as one list of models. */
export function VisualPrices() {
  const tables = usePriceTables()
  const rows = useMemo(() => tables && rowsOf(tables), [tables])
  const [state, set] = useUrlState({ model: '', price: '' }, ['page'], ['price'])
  const wanted = state.model.toLowerCase()
  const { data, pageOf, table } = usePaged(rows?.filter(({ model }) => model.toLowerCase().includes(wanted)))
  const remove = useRemove()
  const open = (price: string) => set({ price })
  const edited = rows?.find(({ model }) => model === state.price)
  return (
    <>
      <DataTable
        id="prices"
        label={t('模型价格')}
        columns={columns()}
        rowId={({ model }) => model}
        rowLabel={({ model }) => model}
        query={{ data, error: null, isFetching: false, refetch: () => undefined }}
        paging={table}
        csvName="prices"
        csvPage={pageOf}
        onOpen={({ model }) => open(model)}
        openRow={state.price || undefined}
        toolbar={
          <FilterBar
            query={{ id: 'model', placeholder: t('搜索模型名称') }}
            values={{ model: state.model }}
            onChange={set}
            extra={
              <Button onClick={() => open(newPrice)}>
                <Plus aria-hidden />
                {t('添加模型')}
              </Button>
            }
          />
        }
        rowActions={(row) => [
          { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => open(row.model) },
          {
            id: 'remove',
            label: t('删除'),
            icon: Trash,
            danger: true,
            onSelect: () => void (tables && remove(row, tables)),
          },
        ]}
        empty={
          <EmptyState
            icon={BadgeDollarSign}
            title={state.model === '' ? t('还没有模型价格') : t('没有匹配的模型')}
            action={state.model !== '' && <Button onClick={() => set({ model: '' })}>{t('清除筛选')}</Button>}
          />
        }
      />
      <PriceForm
        opened={
          state.price === '' || !tables
            ? undefined
            : { model: state.price === newPrice ? '' : state.price, row: edited, tables }
        }
        onClose={() => open('')}
      />
    </>
  )
}

/** Takes a model out of every table; its calls are refused afterwards, unless a fallback prices them. */
function useRemove() {
  const setPrices = useSetPrices()
  return async ({ model }: PriceRow, tables: PriceTables) => {
    const began = { current: tables }
    await confirm({
      title: t('删除模型“{model}”的价格？', { model }),
      body: t('没有价格的模型，普通用户调用时会被拒绝。'),
      confirmLabel: t('删除'),
      danger: true,
      run: async () => {
        await setPrices.mutateAsync({ prices: [{ model, removed: true }], began })
        notify.success(t('价格已删除'))
      },
    })
  }
}
