// Apart from the input of lists: the console's tables need the sizes on pages that have no form.
export const pageSizes = [10, 20, 50, 100] as const
export const defaultPageSize = 10
export const largestPageSize = 100
