/** Sums of answered calls as the database gives them; times are added up, so that means are quotients. */
export type SumRow = {
  calls: string
  quota: string
  prompt_tokens: string
  completion_tokens: string
  cached_tokens: string
  use_time_ms: string
  first_token_ms: string
  first_token_count: string
  /** Billionths of a dollar that the operator paid, and the part of the quota whose cost is known. */
  cost: string
  costed_quota: string
}

/** Calls that failed for good, and attempts that failed. */
export type FailureSums = { calls: number; attempts: number }
