import { useCallback, useState } from 'react'
import { useMidnight } from './now.ts'

/** Now, or this where the clock was put back since. */
const notBefore = (time: number): Date => new Date(Math.max(Date.now(), time))

/**
 * The moment from which a range that moves with the clock counts, and what sets it: when the range was chosen, and `today` at each
 * midnight that passes. A page may stay open for days.
 */
export function useRangeMoment(range: string): [Date, (moment: Date) => void] {
  const midnight = useMidnight()
  const [asked, setAsked] = useState(() => ({ range, moment: new Date() }))
  const setMoment = useCallback((moment: Date) => setAsked({ range, moment }), [range])
  const isOver = range === 'today' && asked.moment.getTime() < midnight
  if (asked.range === range && !isOver) return [asked.moment, setMoment]
  const next = { range, moment: notBefore(midnight) }
  setAsked(next)
  return [next.moment, setMoment]
}
