import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { chunksOf } from '../../../lib/chunks.ts'

type Serving = { type: number; models: readonly string[]; modelMapping?: string }

const none: ReadonlySet<string> = new Set()
/** One that fits into an address beside the names, and the longest that the server reads. */
const shortMapping = 1500
const longestMapping = 20_000

/** Which of these models nobody could call for want of a price. */
export function useUnpriced(serving: Serving): ReadonlySet<string> {
  const { type, models, modelMapping = '' } = useDeferredValue(serving)
  const utils = trpc.useUtils()
  const mapping = modelMapping.length > longestMapping ? '' : modelMapping
  const { data } = useQuery({
    ...reportedWhenFailed,
    queryKey: [['admin', 'models', 'unpriced'], { all: true, type, models, mapping }],
    enabled: models.length > 0,
    queryFn: async () => {
      const answers = await Promise.all(
        chunksOf(models).map((names) =>
          utils.client.admin.models.unpriced.query(
            { type, models: names, modelMapping: mapping },
            { context: { long: mapping.length > shortMapping } },
          ),
        ),
      )
      return new Set(answers.flat())
    },
  })
  return data ?? none
}
