import type { Pool } from 'pg'
import { expandOther } from '#core/log-other.ts'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'

/** Charges that the receipt in their own row does not give, in words, whatever prices are now; empty is good. */
export async function receiptViolations(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ model: string; content: string; quota: string; other: Record<string, unknown> }>(
    `select model_name as model, content, quota, other from logs where type = 2 and quota > 0 and request_id <> '' order by id`,
  )
  return rows.flatMap(({ model, content, quota, other }) => {
    const parsed = receipt.safeParse(expandOther(other, model)['receipt'])
    const given = parsed.success ? String(chargeReceipt(parsed.data).quota) : 'nothing'
    return given === quota ? [] : [`${model} (${content}): charged ${quota}, the receipt gives ${given}`]
  })
}
