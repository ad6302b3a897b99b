import { useMemo } from 'react'
import { reportedWhenFailed } from './query.ts'
import { trpc } from './trpc.ts'

/** Models the reader may call, those whose price is known first: the others may be refused. Undefined until both are known. */
export function useCallableModels(): readonly string[] | undefined {
  const models = trpc.user.models.list.useQuery(undefined, reportedWhenFailed)
  const pricing = trpc.public.models.pricing.useQuery(undefined, reportedWhenFailed)
  const isPending = models.isPending || pricing.isPending
  return useMemo(() => {
    if (isPending) return undefined
    const priced = new Set(pricing.data?.items.map(({ model }) => model))
    const names = models.data ?? []
    return [...names.filter((name) => priced.has(name)), ...names.filter((name) => !priced.has(name))]
  }, [isPending, models.data, pricing.data])
}
