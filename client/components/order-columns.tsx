import { t } from '../i18n/t.ts'
import { Code } from './cells/names.tsx'
import { Money } from './cells/numbers.tsx'
import { Time } from './cells/time.tsx'
import { csvQuota } from './data-table/csv-amounts.ts'
import type { Column } from './data-table/types.ts'
import { OrderStatus, type OrderState, orderStateText } from './order-status.tsx'

type Order = {
  tradeNo: string
  status: OrderState
  quota: number
  planName: string | null
  money: string
  currency: string
  createdAt: Date
}

/** What one's own orders and everybody's show alike. */
export function orderColumnsOf<Row extends Order>(): Record<
  'tradeNo' | 'status' | 'quota' | 'money' | 'created',
  Column<Row>
> {
  const credit = csvQuota(({ quota }: Row) => quota)
  return {
    tradeNo: {
      id: 'tradeNo',
      title: t('订单号'),
      width: 220,
      grow: true,
      fixed: true,
      card: 'title',
      cell: ({ tradeNo }) => <Code>{tradeNo}</Code>,
      csv: ({ tradeNo }) => tradeNo,
    },
    status: {
      id: 'status',
      title: t('状态'),
      // “Awaiting payment”.
      width: 150,
      card: 'fact',
      cell: ({ status }) => <OrderStatus status={status} />,
      csv: ({ status }) => t(orderStateText(status)),
    },
    quota: {
      id: 'quota',
      title: t('充值额度'),
      width: 110,
      align: 'end',
      card: 'fact',
      cell: ({ quota, planName }) => planName ?? <Money quota={quota} />,
      ...credit,
      csv: (order) => order.planName ?? credit.csv(order),
    },
    money: {
      id: 'money',
      title: t('订单金额'),
      width: 120,
      align: 'end',
      card: 'fact',
      cell: ({ money, currency }) => `${money} ${currency}`,
      csv: ({ money, currency }) => `${money} ${currency}`,
    },
    created: {
      id: 'created',
      title: t('创建时间'),
      width: 120,
      cell: ({ createdAt }) => <Time value={createdAt} />,
      csv: ({ createdAt }) => createdAt.toISOString(),
    },
  }
}
