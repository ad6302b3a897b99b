import { useEffect } from 'react'
import { type Store, useStore } from './store.ts'

/** How many there were last time, for the room that is kept until they come; `count` is how many there are, once that is known. */
export function useLastCount(stored: Store<number>, count: number | undefined): number {
  const last = useStore(stored)
  useEffect(() => {
    if (count !== undefined && stored.get() !== count) stored.set(count)
  }, [stored, count])
  return last
}
