import type { Price } from '#core/pricing/price.ts'
import type { BuyingTerms } from '#core/pricing/buying-price.ts'

/** The requests of one model in a batch: by which terms they are charged, as they stood when it was made. */
export type BatchShare = {
  /** What they may cost is set aside under it, and their charge has its name. */
  holdId: string
  /** As the caller wrote it. */
  model: string
  upstreamModel: string
  terms: { price: Price; groupRatio: number; quotaPerUnit: number; pricedModel?: string | undefined }
  batchRatio: number
  buying?: BuyingTerms | undefined
  /** The requests that are these. Batches of before 2026-11-27 lack those of the first share, which has all that no other names. */
  customIds?: string[] | undefined
  /** What each of them brings along, as it was counted before it was sent, for answers whose upstream reports nothing. */
  promptTokens?: number[] | undefined
  requests: number
  /** The sentence of the log row that has the price. */
  content: string
  /** Keys of the log row that are known from the start. */
  other: Record<string, unknown>
}

export type BatchFacts = {
  username: string
  tokenName: string
  group: string
  clientIp: string
  shares: BatchShare[]
  /** By what a batch is known again whose vendor took it and whose answer never arrived. */
  intent?: { requests: number; customIds: string } | undefined
}
