type Query = Record<string, unknown>

const mostItems = 100

/** How many items of a list a caller asks for, and in which order: the latest first unless it wants them otherwise. */
export const pageAsked = ({ order, limit }: Query): { ascending: boolean; limit: number } => ({
  ascending: order === 'asc',
  limit: Math.min(mostItems, Math.max(1, Number.parseInt(String(limit ?? '20'), 10) || 20)),
})

/** A page of items in OpenAI's form. */
export const itemPage = (items: readonly Record<string, unknown>[], hasMore: boolean) => ({
  object: 'list',
  data: items,
  first_id: items[0]?.['id'] ?? null,
  last_id: items.at(-1)?.['id'] ?? null,
  has_more: hasMore,
})
