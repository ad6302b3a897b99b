import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { type ModelParameters, usualParameters } from '#core/models/parameters.ts'

/** What a model takes, by the server's knowledge of its family. */
export function useParameters(model: string): { parameters: ModelParameters; isKnown: boolean } {
  const known = trpc.user.models.parameters.useQuery(
    { model },
    { ...reportedWhenFailed, enabled: model !== '', staleTime: Number.POSITIVE_INFINITY },
  )
  return { parameters: known.data ?? usualParameters, isKnown: !known.isLoading }
}
