import { useMemo } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { keepsRows, reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'

export type Cooldown = RouterOutputs['admin']['channels']['cooldowns'][number]

const lookEveryMs = 10_000

/** Current cooldowns by channel. They begin and end within seconds, so the query is repeated. */
export function useCooldowns(ids: number[], everyMs = lookEveryMs): ReadonlyMap<number, Cooldown[]> {
  const { data } = trpc.admin.channels.cooldowns.useQuery(
    { ids },
    { ...reportedWhenFailed, ...keepsRows, enabled: ids.length > 0, refetchInterval: everyMs, staleTime: 0 },
  )
  return useMemo(() => Map.groupBy(data ?? [], ({ channelId }) => channelId), [data])
}
