import type { TRPCLink } from '@trpc/client'
import { observable } from '@trpc/server/observable'
import type { AppRouter } from '#server/app-router.ts'
import { refusalCode } from './errors.ts'

let answer: ((verified: boolean) => void) | undefined
let asked: Promise<boolean> | undefined
const listeners = new Set<() => void>()

const notify = () => listeners.forEach((listener) => listener())

export const isVerificationAsked = (): boolean => answer !== undefined

export const onVerificationAsked = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** One question for all calls that wait for it. */
function askForVerification(): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    answer = resolve
    notify()
  })
  return asked
}

export function answerVerification(verified: boolean): void {
  answer?.(verified)
  answer = undefined
  asked = undefined
  notify()
}

/** A call that wants the second factor first asks the reader for it, and is then made again by itself. */
export const verificationLink: TRPCLink<AppRouter> =
  () =>
  ({ next, op }) =>
    observable((observer) => {
      let current: { unsubscribe: () => void } | undefined
      const attempt = (isFirst: boolean) => {
        current = next(op).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error: (error) => {
            if (!isFirst || refusalCode(error) !== 'second_factor.required') return observer.error(error)
            void askForVerification().then((verified) => (verified ? attempt(false) : observer.error(error)))
          },
        })
      }
      attempt(true)
      return () => current?.unsubscribe()
    })
