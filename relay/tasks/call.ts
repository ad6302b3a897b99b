import type { CallPrice } from '#core/pricing/price.ts'
import type { CallCore } from '#relay/request/call.ts'

/** An admitted call that starts a task, with what it costs once it is accepted. */
export type TaskCall = CallCore & {
  action: string
  terms: { price: CallPrice; groupRatio: number; quotaPerUnit: number; pricedModel?: string | undefined }
}
