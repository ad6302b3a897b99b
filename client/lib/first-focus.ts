import { type RefObject, useLayoutEffect } from 'react'

/** Gives an element the focus as it first stands, but takes it from no menu that was opened before its page came: that would close. */
export function useFirstFocus(element: RefObject<HTMLElement | null>, isWanted: boolean): void {
  useLayoutEffect(() => {
    if (isWanted && !document.activeElement?.closest('[role=menu]')) element.current?.focus({ preventScroll: true })
  }, [element, isWanted])
}
