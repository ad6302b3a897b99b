import { Ticket } from 'lucide-react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Tags } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { keepsRows } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { trpc } from '../../lib/trpc.ts'

type Use = RouterOutputs['user']['redemptions']['uses']['items'][number]

const columns = (): Column<Use>[] => [
  { id: 'name', title: t('名称'), width: 200, grow: true, fixed: true, card: 'title', cell: ({ name }) => name },
  {
    id: 'kind',
    title: t('类型'),
    width: 100,
    card: 'fact',
    cell: ({ isGift }) => <Tags values={[isGift ? t('礼品码') : t('一次性')]} />,
  },
  {
    id: 'quota',
    title: t('额度'),
    width: 120,
    align: 'end',
    card: 'fact',
    cell: ({ quota }) => <Money quota={quota} />,
  },
  { id: 'used', title: t('兑换时间'), width: 140, card: 'fact', cell: ({ usedAt }) => <Time value={usedAt} /> },
]

/** What one has redeemed. */
export function Uses() {
  const table = useTableState()
  const uses = trpc.user.redemptions.uses.useQuery({ page: table.page, pageSize: table.pageSize }, keepsRows)
  return (
    <DataTable
      id="own-redemptions"
      label={t('兑换记录')}
      columns={columns()}
      rowId={({ redemptionId }) => redemptionId}
      rowLabel={({ name }) => name}
      query={uses}
      paging={table}
      empty={<EmptyState icon={Ticket} title={t('还没有兑换过')} />}
    />
  )
}
