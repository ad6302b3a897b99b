import { Button } from '@chakra-ui/react'
import { Plus, Ticket } from 'lucide-react'
import { redemptionStatus } from '#core/statuses.ts'
import { redemptionOrders } from '#features/redemptions/schema.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useNow } from '../../lib/now.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { BulkActions, MoreActs } from './bulk.tsx'
import { redemptionColumns } from './columns.tsx'
import { RedemptionForm } from './form.tsx'
import { useActs } from './use-acts.ts'
import { useKeyTexts } from './use-key-texts.ts'
import { isUsedUp } from './words.ts'

const noFilters = { keyword: '', status: '', kind: '' }
const kinds = ['single', 'gift'] as const

export function Page() {
  const [values, setFilters] = useUrlState(noFilters, ['page'])
  const [{ edit }, open] = useUrlState({ edit: 0 }, [], ['edit'])
  const table = useTableState()
  const filters = {
    keyword: values.keyword,
    status: Object.values(redemptionStatus).find((status) => String(status) === values.status) ?? 0,
    kind: kinds.find((kind) => kind === values.kind) ?? ('' as const),
  }
  const codes = trpc.admin.redemptions.list.useQuery(
    {
      ...filters,
      sort: redemptionOrders.find((known) => known === table.sort?.by) ?? 'id',
      order: table.sort?.order ?? 'desc',
      page: table.page,
      pageSize: table.pageSize,
    },
    keepsRows,
  )
  const now = useNow()
  // The page's own row at once; it may leave the page while its form is open, and a link leads to one of another page.
  const { data: edited } = trpc.admin.redemptions.get.useQuery(
    { id: edit },
    { ...reportedWhenFailed, enabled: edit > 0, placeholderData: codes.data?.items.find(({ id }) => id === edit) },
  )
  const keyTextsOf = useKeyTexts()
  const actsOf = useActs(({ id }) => open({ edit: id }))
  const isFiltered = values.keyword !== '' || values.status !== '' || values.kind !== ''
  const create = (
    <Button variant="solid" onClick={() => open({ edit: -1 })}>
      <Plus aria-hidden />
      {t('添加兑换码')}
    </Button>
  )
  return (
    <Frame title={t('兑换码')} fill extra={<MoreActs filters={filters} />} action={create}>
      <DataTable
        id="redemptions"
        label={t('兑换码')}
        columns={redemptionColumns(now, async (row) => (await keyTextsOf([row])).join(''))}
        rowId={({ id }) => id}
        rowLabel={({ name, id }) => `${name} #${id}`}
        query={codes}
        paging={table}
        sort={table.sort}
        onSort={table.setSort}
        isMuted={(row) => row.status === redemptionStatus.disabled || isUsedUp(row)}
        onOpen={(row) => row.status === redemptionStatus.unused && open({ edit: row.id })}
        openRow={edit || undefined}
        rowActions={actsOf}
        bulk={{ filters, actions: (selection) => <BulkActions selection={selection} /> }}
        toolbar={
          <FilterBar
            query={{ id: 'keyword', placeholder: t('搜索 ID 或名称') }}
            facets={[
              {
                id: 'status',
                label: t('状态'),
                kind: 'choice',
                fixed: true,
                choices: [
                  { value: '1', label: t('未使用') },
                  { value: '2', label: t('已禁用') },
                  { value: '3', label: t('已使用') },
                ],
              },
              {
                id: 'kind',
                label: t('类型'),
                kind: 'choice',
                fixed: true,
                choices: [
                  { value: 'single', label: t('一次性') },
                  { value: 'gift', label: t('礼品码') },
                ],
              },
            ]}
            values={values}
            onChange={setFilters}
          />
        }
        empty={
          isFiltered ? (
            <EmptyState
              icon={Ticket}
              title={t('没有匹配的兑换码')}
              action={<Button onClick={() => setFilters(noFilters)}>{t('清除筛选')}</Button>}
            />
          ) : (
            <EmptyState
              icon={Ticket}
              title={t('还没有兑换码')}
              description={t('用户在钱包中输入兑换码即可获得额度。')}
              action={create}
            />
          )
        }
      />
      <RedemptionForm
        open={edit === -1 || (edit > 0 && edited !== undefined)}
        redemption={edit > 0 ? edited : undefined}
        onClose={() => open({ edit: 0 })}
      />
    </Frame>
  )
}
