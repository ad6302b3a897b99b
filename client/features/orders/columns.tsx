import { Code, UserCell } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { OrderStatus, orderStateText } from '../../components/order-status.tsx'
import { t } from '../../i18n/t.ts'
import type { Order } from './words.ts'
import { gatewayName } from './words.ts'

export const orderColumns = (): Column<Order>[] => [
  {
    id: 'tradeNo',
    title: t('订单号'),
    width: 230,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ tradeNo }) => <Code>{tradeNo}</Code>,
    csv: ({ tradeNo }) => tradeNo,
  },
  {
    id: 'user',
    title: t('用户'),
    width: 130,
    card: 'fact',
    cell: ({ userId, username }) => <UserCell user={{ id: userId, username: username || `#${userId}` }} />,
    csv: ({ username, userId }) => username || userId,
  },
  {
    id: 'status',
    title: t('状态'),
    width: 100,
    card: 'fact',
    cell: ({ status }) => <OrderStatus status={status} />,
    csv: ({ status }) => t(orderStateText(status)),
  },
  {
    id: 'quota',
    title: t('充值额度'),
    width: 110,
    align: 'end',
    cell: ({ quota }) => <Money quota={quota} />,
    csv: ({ quota }) => quota,
  },
  {
    id: 'money',
    title: t('实付金额'),
    width: 120,
    align: 'end',
    card: 'fact',
    cell: ({ money, currency }) => `${money} ${currency}`,
    csv: ({ money }) => money,
  },
  {
    id: 'gateway',
    title: t('支付渠道'),
    width: 110,
    cell: ({ gateway }) => t(gatewayName(gateway)),
    csv: ({ gateway }) => gateway,
  },
  {
    id: 'payment',
    title: t('渠道订单号'),
    width: 180,
    hidden: true,
    cell: ({ paymentId }) => <Code>{paymentId}</Code>,
    csv: ({ paymentId }) => paymentId,
  },
  {
    id: 'created',
    title: t('创建时间'),
    width: 120,
    cell: ({ createdAt }) => <Time value={createdAt} />,
    csv: ({ createdAt }) => createdAt.toISOString(),
  },
]
