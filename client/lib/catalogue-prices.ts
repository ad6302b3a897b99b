import { chunksOf } from './chunks.ts'
import { trpcClient } from './trpc.ts'

/** What the public catalogue says of models, however many they are. */
export const cataloguePrices = async (models: readonly string[]) => {
  const answers = await Promise.all(
    chunksOf(models).map((names) => trpcClient.admin.models.catalogPrices.query({ models: names })),
  )
  return answers.flat()
}
