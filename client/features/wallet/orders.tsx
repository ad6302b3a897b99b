import { Button } from '@chakra-ui/react'
import { Printer, Receipt } from 'lucide-react'
import { useLocation } from 'wouter'
import { orderStatuses } from '#features/orders/schema.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { orderColumnsOf } from '../../components/order-columns.tsx'
import { orderStateText, orderStates } from '../../components/order-status.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { keepsRows } from '../../lib/query.ts'
import { useTableState } from '../../lib/table-state.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { type Order, orderMethod, receiptAddress } from './methods.ts'

const columns = (): Column<Order>[] => {
  const { tradeNo, status, quota, money, created } = orderColumnsOf<Order>()
  const method: Column<Order> = {
    id: 'method',
    title: t('支付方式'),
    width: 120,
    cell: (order) => t(orderMethod(order)),
  }
  return [tradeNo, status, quota, money, method, created]
}

/** One's own orders. */
export function Orders() {
  const [values, setFilters] = useUrlState({ status: '' }, ['page'])
  const table = useTableState()
  const utils = trpc.useUtils()
  const [, navigate] = useLocation()
  const status = orderStatuses.find((one) => one === values.status) ?? ('' as const)
  const orders = trpc.user.orders.list.useQuery({ status, page: table.page, pageSize: table.pageSize }, keepsRows)
  return (
    <DataTable
      id="own-orders"
      label={t('充值订单')}
      columns={columns()}
      rowId={({ id }) => id}
      rowLabel={({ tradeNo }) => tradeNo}
      onOpen={({ tradeNo }) => navigate(receiptAddress(tradeNo))}
      rowActions={({ tradeNo }) => [
        { id: 'receipt', label: t('查看收据'), icon: Printer, onSelect: () => navigate(receiptAddress(tradeNo)) },
      ]}
      query={orders}
      paging={table}
      csvName="orders"
      csvPage={(page, pageSize) => utils.user.orders.list.fetch({ status, page, pageSize })}
      toolbar={
        <FilterBar
          facets={[
            {
              id: 'status',
              label: t('状态'),
              kind: 'choice',
              fixed: true,
              choices: orderStates.map((value) => ({ value, label: t(orderStateText(value)) })),
            },
          ]}
          values={values}
          onChange={setFilters}
        />
      }
      empty={
        values.status === '' ? (
          <EmptyState icon={Receipt} title={t('还没有充值订单')} />
        ) : (
          <EmptyState
            icon={Receipt}
            title={t('没有匹配的订单')}
            action={<Button onClick={() => setFilters({ status: '' })}>{t('清除筛选')}</Button>}
          />
        )
      }
    />
  )
}
