import { Button } from '@chakra-ui/react'
import { Receipt } from 'lucide-react'
import { useMemo, useState } from 'react'
import { gatewayIds, orderStatuses } from '#features/orders/schema.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { DetailPanel, neighbours } from '../../components/detail-panel.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { orderStateText, orderStates } from '../../components/order-status.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useRangeMoment } from '../../lib/range-moment.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { useTableState } from '../../lib/table-state.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { ActForm, type OpenAct } from './act-form.tsx'
import { orderColumns } from './columns.tsx'
import { OrderPanel } from './panel.tsx'
import { gatewayName, mayComplete, mayReverse } from './words.ts'

const noFilters = { keyword: '', status: '', gateway: '', range: '', invitedBy: '' }

export function Page() {
  const [values, setFilters] = useUrlState(noFilters, ['page'])
  const [{ order: openId }, open] = useUrlState({ order: 0 }, [], ['order'])
  const [act, setAct] = useState<OpenAct>()
  const table = useTableState()
  const utils = trpc.useUtils()
  const { role } = useSession()
  const [now] = useRangeMoment(values.range)
  const range = useMemo(() => parseRange(values.range, now), [values.range, now])
  const input = {
    keyword: values.keyword,
    invitedBy: values.invitedBy,
    start: range?.from,
    // A range that moves with the clock has no end.
    end: range && !isRangePreset(values.range) ? range.to : undefined,
    status: orderStatuses.find((one) => one === values.status) ?? ('' as const),
    gateway: gatewayIds.find((one) => one === values.gateway) ?? ('' as const),
  }
  const orders = trpc.admin.orders.list.useQuery({ ...input, page: table.page, pageSize: table.pageSize }, keepsRows)
  const rows = orders.data?.items ?? []
  const shown = rows.find(({ id }) => id === openId)
  const opened = trpc.admin.orders.get.useQuery({ id: openId }, { ...reportedWhenFailed, enabled: openId > 0 })
  const isFiltered = Object.values(values).some((value) => value !== '')
  return (
    <Frame title={t('充值订单')} fill>
      <DataTable
        id="orders"
        label={t('充值订单')}
        columns={orderColumns()}
        rowId={({ id }) => id}
        rowLabel={({ tradeNo }) => tradeNo}
        query={orders}
        paging={table}
        csvName="orders"
        csvPage={(page, pageSize) => utils.admin.orders.list.fetch({ ...input, page, pageSize })}
        onOpen={({ id }) => open({ order: id })}
        openRow={openId || undefined}
        rowActions={(order) => [
          {
            id: 'complete',
            label: t('补单'),
            hidden: !mayComplete(order, role),
            onSelect: () => setAct({ kind: 'complete', order }),
          },
          {
            id: 'reverse',
            label: t('收回额度'),
            danger: true,
            hidden: !mayReverse(order, role),
            onSelect: () => setAct({ kind: 'reverse', order }),
          },
        ]}
        toolbar={
          <FilterBar
            query={{ id: 'keyword', placeholder: t('搜索订单号或用户名') }}
            facets={[
              {
                id: 'status',
                label: t('状态'),
                kind: 'choice',
                fixed: true,
                choices: orderStates.map((value) => ({ value, label: t(orderStateText(value)) })),
              },
              {
                id: 'gateway',
                label: t('支付渠道'),
                kind: 'choice',
                fixed: true,
                choices: gatewayIds.map((value) => ({ value, label: t(gatewayName(value)) })),
              },
              { id: 'invitedBy', label: t('邀请人'), kind: 'text' },
              { id: 'range', label: t('创建时间'), kind: 'range' },
            ]}
            values={values}
            onChange={setFilters}
          />
        }
        empty={
          <EmptyState
            icon={Receipt}
            title={isFiltered ? t('没有匹配的订单') : t('还没有充值订单')}
            description={!isFiltered && t('用户在钱包中发起的付款会出现在这里。')}
            action={isFiltered && <Button onClick={() => setFilters(noFilters)}>{t('清除筛选')}</Button>}
          />
        }
      />
      <DetailPanel
        openId={openId || undefined}
        onClose={() => open({ order: 0 })}
        title={shown?.tradeNo ?? opened.data?.tradeNo ?? t('充值订单')}
        label={t('充值订单')}
        printable={opened.data !== undefined}
        {...neighbours(
          rows,
          ({ id }) => id === openId,
          ({ id }) => open({ order: id }),
        )}
      >
        {openId > 0 && <OrderPanel id={openId} act={(kind, order) => setAct({ kind, order })} />}
      </DetailPanel>
      <ActForm act={act} onClose={() => setAct(undefined)} />
    </Frame>
  )
}
