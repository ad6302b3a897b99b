import type { RefObject } from 'react'
import { useLayoutEffect, useRef, useState } from 'react'

/** What had the focus when something opened, so that it can have it back. */
export function useOrigin(isOpen: boolean): RefObject<HTMLElement | null> {
  const origin = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (isOpen) origin.current = document.activeElement instanceof HTMLElement ? document.activeElement : null
  }, [isOpen])
  return origin
}

/** The same for what is mounted while it is open: a field inside may take the focus before anything else could look. */
export function useOpener(): () => HTMLElement | null {
  const [opener] = useState(() => document.activeElement)
  return () => (opener instanceof HTMLElement && opener.isConnected ? opener : null)
}
