/** What a responses call goes on from, where the gateway keeps that itself. */
export type EarlierTurns = {
  /** The body as its caller wrote it. */
  asked: Record<string, unknown>
  previousId: string | null
  chain: readonly string[]
  /** What is asked and answered is added to it. */
  conversationId?: string | undefined
  /** What the call brought along itself. */
  input: Record<string, unknown>[]
}
