import { z } from 'zod'

export const pageSizes = [10, 20, 50, 100] as const
export const defaultPageSize = 10
export const largestPageSize = 100

/** One-based page of a list, as every list procedure takes it. */
export const pageInput = z.object({
  page: z.number().int().min(1).max(1_000_000).default(1),
  pageSize: z.number().int().min(1).max(largestPageSize).default(defaultPageSize),
})

export type Page<Item> = { items: Item[]; total: number; page: number; pageSize: number }

/** The rows of a page, as options of a query of entities. */
export const rowsOfPage = ({ page, pageSize }: z.infer<typeof pageInput>) => ({
  limit: pageSize,
  offset: (page - 1) * pageSize,
  disableIdentityMap: true,
})
