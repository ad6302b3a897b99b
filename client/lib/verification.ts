import type { TRPCLink } from '@trpc/client'
import { observable } from '@trpc/server/observable'
import type { AppRouter } from '#server/app-router.ts'
import { refusalCode } from './errors.ts'
import { createStore } from './store.ts'

/** What is asked for: the second factor, or the password of whoever has none yet. */
export type Proof = 'second-factor' | 'password'

const proofOf: Readonly<Record<string, Proof>> = {
  'second_factor.required': 'second-factor',
  'second_factor.owner_unconfirmed': 'password',
}

/** What the reader is asked for now. */
export const proofAsked = createStore<Proof | undefined>(undefined)

let answer: ((verified: boolean) => void) | undefined
let asked: Promise<boolean> | undefined

/** One question for all calls that wait for it. */
function askForVerification(wanted: Proof): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    answer = resolve
    proofAsked.set(wanted)
  })
  return asked
}

export function answerVerification(verified: boolean): void {
  answer?.(verified)
  answer = undefined
  asked = undefined
  proofAsked.set(undefined)
}

/** A call that wants a proof first asks the reader for it, and is then made again by itself. */
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
            const wanted = proofOf[refusalCode(error) ?? '']
            if (!isFirst || !wanted) return observer.error(error)
            void askForVerification(wanted).then((verified) => (verified ? attempt(false) : observer.error(error)))
          },
        })
      }
      attempt(true)
      return () => current?.unsubscribe()
    })
