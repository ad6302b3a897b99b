import type { ReactNode } from 'react'
import { Suspense, lazy, useSyncExternalStore } from 'react'

const ConfirmDialog = lazy(async () => ({ default: (await import('./confirm-dialog.tsx')).ConfirmDialog }))

export type Question = {
  /** Names the object: 「删除令牌“甲”？」 */
  title: string
  /** What follows from it, and what does not. */
  body?: ReactNode
  confirmLabel?: string
  cancelLabel?: string
  danger?: boolean
  /** For what cannot be undone: the reader types this before the button works. */
  typeToConfirm?: string
  /** Runs while the dialog shows it; a failure is shown there, and the dialog stays. */
  run?: () => Promise<unknown>
  /** How a failure is said; without it the reason alone. */
  failed?: (reason: string) => string
  /** There is nothing to decide: one button closes it. */
  isNotice?: boolean
}

type Asked = { question: Question; answer: (confirmed: boolean) => void; id: number }

let asked: Asked | undefined
let lastId = 0
const listeners = new Set<() => void>()

const show = (next: Asked | undefined) => {
  asked = next
  listeners.forEach((listener) => listener())
}

/** Asks before an act; true once it is confirmed, and `run` has succeeded. */
export function confirm(question: Question): Promise<boolean> {
  asked?.answer(false)
  return new Promise((resolve) => {
    lastId += 1
    show({ question, answer: resolve, id: lastId })
  })
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Mounted once; shows the question that `confirm` asks. */
export function ConfirmHost() {
  const current = useSyncExternalStore(subscribe, () => asked)
  if (!current) return null
  const close = (confirmed: boolean) => {
    show(undefined)
    current.answer(confirmed)
  }
  return (
    <Suspense fallback={null}>
      <ConfirmDialog key={current.id} question={current.question} onClose={close} />
    </Suspense>
  )
}
