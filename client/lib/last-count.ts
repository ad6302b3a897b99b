import { useEffect } from 'react'
import { type Store, useStore } from './store.ts'

/**
 * How many there were last time, for the room that is kept until they come; `count` is how many there are, once that is known. On a
 * browser's first visit it is the store's fallback, which may be null where no number would do.
 */
export function useLastCount<Unknown extends number | null>(
  stored: Store<number | Unknown>,
  count: number | undefined,
): number | Unknown {
  const last = useStore(stored)
  useEffect(() => {
    if (count !== undefined && stored.get() !== count) stored.set(count)
  }, [stored, count])
  return last
}
