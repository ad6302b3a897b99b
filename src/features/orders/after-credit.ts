import type { Services } from '../deps.ts'
import { plainNotices } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { bookRebate } from '../rebates/service.ts'
import type { Credited } from './ledger.ts'

export type NotifyDeps = Pick<
  Services,
  'database' | 'options' | 'ambient' | 'log' | 'secrets' | 'transport' | 'guardedFetch'
>

/** What follows a credit and must not undo it. */
export async function afterCredit(
  services: NotifyDeps,
  tradeNo: string,
  { rebate, orphaned }: Credited,
): Promise<void> {
  if (orphaned) {
    const notice = plainNotices('payment_orphaned', {
      zh: {
        title: '已支付订单的账户不存在',
        content: `订单 ${tradeNo} 已支付，但下单的账户已被删除，未入账，请处理退款。`,
      },
      en: {
        title: 'The account of a paid order is gone',
        content: `Order ${tradeNo} was paid, but its account has been deleted. Nothing was credited. Please refund it.`,
      },
    })
    void notifyRoot(services, notice, tradeNo)
  }
  await bookRebate(services, rebate)
}
