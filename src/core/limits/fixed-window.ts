import { allowed, refusedFor } from './sliding-log.ts'
import type { Verdict } from './sliding-log.ts'

/** At most `total` uses and `success` successes in a window that opens with its first use; 0 is no limit. */
export type WindowRule = { periodMs: number; total: number; success: number }

/** One window's counts; `startedAt` in milliseconds. */
export type Window = { startedAt: number; total: number; success: number }

const isOpen = (window: Window | undefined, rule: WindowRule, now: number): window is Window =>
  window !== undefined && now >= window.startedAt && now < window.startedAt + rule.periodMs

/** Decides on a use before it runs and counts it; a refused one is not counted and moves nothing. */
export function admit(window: Window | undefined, rule: WindowRule, now: number): { verdict: Verdict; window: Window } {
  const current = isOpen(window, rule, now) ? window : { startedAt: now, total: 0, success: 0 }
  const isFull =
    (rule.total > 0 && current.total >= rule.total) || (rule.success > 0 && current.success >= rule.success)
  if (isFull) return { verdict: refusedFor(current.startedAt + rule.periodMs - now), window: current }
  return { verdict: allowed, window: { ...current, total: current.total + 1 } }
}

/** Counts a success in the window that is open when it is known; one that ended meanwhile stays as it was. */
export const countSuccess = (window: Window | undefined, rule: WindowRule, now: number): Window | undefined =>
  isOpen(window, rule, now) ? { ...window, success: window.success + 1 } : window
