/** One's own wallet. */
export type WalletView = {
  quota: number
  usedQuota: number
  /** Taken from it a day, over the days of the pace. */
  dailyQuota: number
  /** Seven, or as many as there is the account. */
  paceDays: number
  /** Days that the balance lasts for at that pace; null where nothing is spent. */
  daysLeft: number | null
  /** The least that may be bought: dollars where amounts are dollars, else units. */
  minimumAmount: number
  groupRatio: number
  topUpLink: string
  /** The ways of paying that are open, with what a dollar costs. */
  methods: { method: 'zfb' | 'wx' | 'stripe'; currency: string; price: number }[]
}
