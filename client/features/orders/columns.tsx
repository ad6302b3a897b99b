import { Code, UserCell } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { orderColumnsOf } from '../../components/order-columns.tsx'
import { t } from '../../i18n/t.ts'
import type { Order } from './words.ts'
import { gatewayName } from './words.ts'

export const orderColumns = (): Column<Order>[] => {
  const { tradeNo, status, quota, money, created } = orderColumnsOf<Order>()
  const user: Column<Order> = {
    id: 'user',
    title: t('用户'),
    width: 130,
    card: 'fact',
    cell: ({ userId, username }) => <UserCell user={{ id: userId, username: username || `#${userId}` }} />,
    csv: ({ username, userId }) => username || userId,
  }
  const invitedBy: Column<Order> = {
    id: 'invitedBy',
    title: t('邀请人'),
    width: 120,
    hidden: true,
    cell: (order) => order.invitedBy || <None />,
    csv: (order) => order.invitedBy,
  }
  const gateway: Column<Order> = {
    id: 'gateway',
    title: t('支付渠道'),
    width: 110,
    cell: (order) => t(gatewayName(order.gateway)),
    csv: (order) => order.gateway,
  }
  const payment: Column<Order> = {
    id: 'payment',
    title: t('渠道订单号'),
    width: 180,
    hidden: true,
    cell: ({ paymentId }) => <Code>{paymentId}</Code>,
    csv: ({ paymentId }) => paymentId,
  }
  return [tradeNo, user, status, quota, money, gateway, payment, invitedBy, created]
}
