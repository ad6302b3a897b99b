import { expireOrders } from '#features/orders/service.ts'
import { bookDueRebates } from '#features/rebates/service.ts'
import { expireSubscriptions } from '#features/plans/service.ts'
import type { Job } from './job.ts'

export const payments: Job = {
  name: 'payments',
  everySeconds: 60,
  run: async (services, { signal }) => ({
    text: '已关闭 {expired} 个未支付的订单，补发 {rebates} 笔返佣，{plans} 个套餐到期',
    params: {
      expired: await expireOrders(services),
      rebates: await bookDueRebates(services, signal),
      plans: await expireSubscriptions(services),
    },
  }),
}
