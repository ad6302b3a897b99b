/** A row of `failed_charges` with what is known of those it names. */
export type FailedChargeRow = {
  id: string
  user_id: number
  username: string | null
  token_id: number
  token_name: string | null
  channel_id: number
  channel_name: string | null
  quota: string | null
  held: string | null
  error: string
  created_at: Date | string
}

export const toFailedChargeView = (row: FailedChargeRow) => ({
  /** The request id. */
  id: row.id,
  userId: row.user_id,
  username: row.username ?? '',
  tokenId: row.token_id,
  tokenName: row.token_name ?? '',
  channelId: row.channel_id,
  channelName: row.channel_name ?? '',
  /** Null where the price itself was not a number. */
  quota: row.quota === null ? null : Number(row.quota),
  /** What stays taken from the balance until somebody decides. */
  held: Number(row.held ?? 0),
  error: row.error,
  createdAt: new Date(row.created_at),
})
