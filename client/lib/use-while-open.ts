import { useLayoutEffect, useRef } from 'react'

/** What a drawer shows: the last of it while it goes out of sight, for what it was about is gone by then. */
export function useWhileOpen<Value>(isOpen: boolean, value: Value): Value {
  const last = useRef(value)
  useLayoutEffect(() => {
    if (isOpen) last.current = value
  })
  return isOpen ? value : last.current
}
