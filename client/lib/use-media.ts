import { useSyncExternalStore } from 'react'

function useMedia(query: string): boolean {
  const subscribe = (listener: () => void) => {
    const list = window.matchMedia(query)
    list.addEventListener('change', listener)
    return () => list.removeEventListener('change', listener)
  }
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}

/** The phone layout: tables become cards, drawers fill the screen. */
export const useIsPhone = (): boolean => useMedia('(max-width: 600px)')

/** Too narrow for a sidebar beside the page. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 900px)')
