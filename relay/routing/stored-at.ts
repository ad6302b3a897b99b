import type { StoredPlace } from '#features/stored-responses/service.ts'

/** Where a call goes because of what it names; `only`: nowhere else. */
export type StoredAt = StoredPlace & {
  only: boolean
  /** Tokens of the conversation that it goes on with, which it does not bring along, as the upstream last counted them. */
  conversationTokens: number
  /** The conversation that it adds to. */
  conversationId?: string | undefined
}
