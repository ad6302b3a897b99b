import { z } from 'zod'
import { defaultPageSize, largestPageSize } from './page-sizes.ts'

export const pageSizeUpTo = (largest: number) => z.int().min(1).max(largest).default(defaultPageSize)

/** One-based page of a list, as every list procedure takes it. */
export const pageInput = z.object({
  page: z.number().int().min(1).max(1_000_000).default(1),
  pageSize: pageSizeUpTo(largestPageSize),
})

export type Page<Item> = { items: Item[]; total: number; page: number; pageSize: number }

/** The rows of a page, as options of a query of entities. */
export const rowsOfPage = ({ page, pageSize }: z.infer<typeof pageInput>) => ({
  limit: pageSize,
  offset: (page - 1) * pageSize,
  disableIdentityMap: true,
})
