import { trpc } from '../../lib/trpc.ts'
import type { Redemption } from './words.ts'

/** The texts of codes. Masked ones are fetched, which asks for the second factor; the list then shows them as well. */
export function useKeyTexts() {
  const utils = trpc.useUtils()
  const { mutateAsync: fetchCodes } = trpc.admin.redemptions.export.useMutation()
  return async (rows: readonly Redemption[]): Promise<string[]> => {
    if (!rows.some(({ isKeyMasked }) => isKeyMasked)) return rows.map(({ key }) => key)
    const { items } = await fetchCodes({ ids: rows.map(({ id }) => id) })
    void utils.admin.redemptions.list.invalidate()
    const keys = new Map(items.map(({ id, key }) => [id, key]))
    return rows.flatMap(({ id }) => keys.get(id) ?? [])
  }
}
