import type { RouterOutputs } from '#server/app-router.ts'

/** One channel as its panel and its form read it. */
export type ChannelDetail = RouterOutputs['admin']['channels']['get']
