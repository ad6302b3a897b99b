import { trpc } from '../../lib/trpc.ts'
import { type Parameters, usualParameters } from './call-body.ts'

/** What a model takes, by the server's knowledge of its family. */
export function useParameters(model: string): { parameters: Parameters; isKnown: boolean } {
  const known = trpc.user.models.parameters.useQuery(
    { model },
    { enabled: model !== '', staleTime: Number.POSITIVE_INFINITY, placeholderData: undefined },
  )
  return { parameters: known.data ?? usualParameters, isKnown: !known.isLoading }
}
