import type { RefObject } from 'react'
import { useLayoutEffect, useRef } from 'react'

/** What had the focus when something opened, so that it can have it back. */
export function useOrigin(isOpen: boolean): RefObject<HTMLElement | null> {
  const origin = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (isOpen) origin.current = document.activeElement instanceof HTMLElement ? document.activeElement : null
  }, [isOpen])
  return origin
}
