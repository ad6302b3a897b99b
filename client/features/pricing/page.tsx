import { Box, Button, SegmentGroup } from '@chakra-ui/react'
import { BadgePercent } from 'lucide-react'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Notice } from '../../components/notice.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { usePaged } from '../../lib/paged.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { PriceCards } from './cards.tsx'
import { priceColumns } from './columns.tsx'
import { PricePanel } from './panel.tsx'
import { usePrices, filters, type PriceLine } from './use-prices.ts'

const compare = (one: PriceLine, other: PriceLine, by: string): number => {
  if (by === 'model') return one.model < other.model ? -1 : 1
  const figure = ({ dollars }: PriceLine) => (by === 'output' ? dollars.output : dollars.input) ?? dollars.call ?? 0
  return figure(one) - figure(other)
}

/** What every model costs its reader, in the group they choose. */
export function Page() {
  const [values, setFilters] = useUrlState(filters, ['page'])
  const [{ view, open }, set] = useUrlState({ view: 'table', open: '' }, [], ['open'])
  const { query, lines, group, groups, vendors } = usePrices(values)
  const { data, pageOf, table } = usePaged(lines, { initial: { by: 'model', order: 'asc' }, compare })
  const show = (model: string) => set({ open: model })
  const filtered = values.q !== '' || values.kind !== '' || values.vendor !== ''
  const empty = (
    <EmptyState
      icon={BadgePercent}
      title={filtered ? t('没有匹配的模型') : t('这个分组还没有可用的模型')}
      description={filtered ? undefined : t('管理员添加渠道并设置价格后，模型会显示在这里。')}
      action={filtered && <Button onClick={() => setFilters({ q: '', kind: '', vendor: '' })}>{t('清除筛选')}</Button>}
    />
  )
  const toolbar = (
    <FilterBar
      query={{ id: 'q', placeholder: t('搜索模型名称') }}
      facets={[
        {
          id: 'group',
          label: t('分组'),
          kind: 'choice',
          choices: groups.map(({ name, ratio }) => ({ value: name, label: name, note: `${ratio}x` })),
        },
        {
          id: 'kind',
          label: t('计费方式'),
          kind: 'choice',
          choices: [
            { value: 'ratio', label: t('按量计费') },
            { value: 'call', label: t('按次计费') },
          ],
        },
        { id: 'vendor', label: t('厂商'), kind: 'choice', choices: vendors.map((value) => ({ value, label: value })) },
      ]}
      values={values}
      onChange={setFilters}
    />
  )
  const shared = { lines: data?.items ?? [], onOpen: show }
  return (
    <Frame
      title={t('模型价格')}
      width="wide"
      description={
        group
          ? t('分组 {group} 的价格，倍率 {ratio}，单位为美元每百万 tokens。', { group: group.name, ratio: group.ratio })
          : query.isPending && (
              <Box as="span" visibility="hidden" aria-hidden>
                {t('分组 {group} 的价格，倍率 {ratio}，单位为美元每百万 tokens。', { group: 'default', ratio: 1 })}
              </Box>
            )
      }
      extra={
        <SegmentGroup.Root
          size="sm"
          aria-label={t('显示方式')}
          value={view === 'card' ? 'card' : 'table'}
          onValueChange={({ value }) => set({ view: value ?? 'table' })}
        >
          <SegmentGroup.Indicator />
          <SegmentGroup.Items
            items={[
              { value: 'table', label: t('表格') },
              { value: 'card', label: t('卡片') },
            ]}
          />
        </SegmentGroup.Root>
      }
    >
      {group && values.group !== '' && values.group !== group.name && (
        <Notice>
          {t('没有分组 {wanted} 可选，以下是分组 {group} 的价格。', { wanted: values.group, group: group.name })}
        </Notice>
      )}
      {view === 'card' && data ? (
        <PriceCards {...shared} toolbar={toolbar} empty={empty} paging={table} total={data.total} />
      ) : (
        <DataTable
          id="pricing"
          label={t('模型价格')}
          columns={priceColumns()}
          rowId={({ model }) => model}
          rowLabel={({ model }) => model}
          query={{ ...query, data }}
          paging={table}
          sort={table.sort}
          onSort={table.setSort}
          csvName="pricing"
          csvPage={pageOf}
          onOpen={({ model }) => show(model)}
          openRow={open || undefined}
          toolbar={toolbar}
          empty={empty}
        />
      )}
      <PricePanel
        line={lines?.find(({ model }) => model === open)}
        lines={shared.lines}
        groups={groups}
        groupRatio={group?.ratio ?? 1}
        onOpen={show}
      />
    </Frame>
  )
}
