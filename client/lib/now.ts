import { useSyncExternalStore } from 'react'
import { midnight } from './time-range.ts'

const everyMilliseconds = 30_000
let now = new Date()
const listeners = new Set<() => void>()

const tick = () => {
  now = new Date()
  listeners.forEach((listener) => listener())
}

let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void) => {
  if (listeners.size === 0) {
    now = new Date()
    timer = setInterval(tick, everyMilliseconds)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

/** When the reader's day began, in milliseconds since 1970; it moves with each midnight that passes. */
export const useMidnight = (): number => useSyncExternalStore(subscribe, () => midnight(now).getTime())

/** One clock for all relative times of the page, moving twice a minute. */
export const useNow = (): Date => useSyncExternalStore(subscribe, () => now)
