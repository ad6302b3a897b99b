import type { ReactNode } from 'react'
import { createStore, useStore } from '../lib/store.ts'
import { fetchedPart } from './fetched-part.ts'

const dialog = fetchedPart(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog)

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

const asked = createStore<Asked | undefined>(undefined)
let lastId = 0

/** Asks before an act; true once it is confirmed, and `run` has succeeded. */
export function confirm(question: Question): Promise<boolean> {
  asked.get()?.answer(false)
  return new Promise((resolve) => {
    lastId += 1
    asked.set({ question, answer: resolve, id: lastId })
  })
}

/** Mounted once; shows the question that `confirm` asks. */
export function ConfirmHost() {
  const current = useStore(asked)
  const close = (confirmed: boolean) => {
    asked.set(undefined)
    current?.answer(confirmed)
  }
  const ConfirmDialog = dialog.usePart(current !== undefined, () => close(false))
  return current && ConfirmDialog && <ConfirmDialog key={current.id} question={current.question} onClose={close} />
}
