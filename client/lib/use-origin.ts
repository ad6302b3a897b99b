import { useCallback, useLayoutEffect, useRef, useState } from 'react'

/** What had the focus, so that it can have it back; where that is gone, goes with what closes, or nothing had it, what is open below or the page. */
export function placeOf(origin: Element | null): HTMLElement | null {
  const isThere = origin?.isConnected && origin !== document.body && !origin.closest('[role=dialog][data-state=closed]')
  if (isThere && origin instanceof HTMLElement) return origin
  const below = [...document.querySelectorAll<HTMLElement>('[role=dialog][data-state=open]')].at(-1)
  return below ?? document.getElementById('content')
}

/** Where the focus goes back to when what opened closes. */
export function useOrigin(isOpen: boolean): () => HTMLElement | null {
  const origin = useRef<Element>(null)
  useLayoutEffect(() => {
    if (isOpen) origin.current = document.activeElement
  }, [isOpen])
  return useCallback(() => placeOf(origin.current), [])
}

/** The same for what is mounted while it is open: a field inside may take the focus before anything else could look. */
export function useOpener(): () => HTMLElement | null {
  const [opener] = useState(() => document.activeElement)
  return () => placeOf(opener)
}
