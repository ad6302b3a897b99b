import { useMemo } from 'react'
import { trpc } from './trpc.ts'

/** Models the reader may call, those whose price is known first: the others may be refused. */
export function useCallableModels(): readonly string[] {
  const models = trpc.user.models.list.useQuery()
  const pricing = trpc.public.models.pricing.useQuery()
  return useMemo(() => {
    const priced = new Set(pricing.data?.items.map(({ model }) => model))
    const names = models.data ?? []
    return [...names.filter((name) => priced.has(name)), ...names.filter((name) => !priced.has(name))]
  }, [models.data, pricing.data])
}
