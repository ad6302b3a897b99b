import { useEffect } from 'react'
import type { BaseLocationHook } from 'wouter'
import { useBrowserLocation } from 'wouter/use-browser-location'
import { t } from '../i18n/t.ts'

type Ask = () => Promise<boolean>

let ask: Ask | undefined

/** Who puts the question is decided by the app, so that this file knows no dialog. */
let question: Ask = async () => true
export const setLeaveQuestion = (next: Ask): void => {
  question = next
}

/** A whole page that is being edited: its own tabs and filters are no way out of it. */
let edited: { path: string } | undefined

const mayLeave = async (): Promise<boolean> => {
  if (ask === undefined) return true
  const confirmed = await ask()
  if (confirmed) ask = undefined
  return confirmed
}

const losesSomething = (address: string): boolean =>
  ask !== undefined || (edited !== undefined && new URL(address, window.location.href).pathname !== edited.path)

async function mayGo(): Promise<boolean> {
  const confirmed = ask === undefined ? await question() : await mayLeave()
  if (confirmed) edited = undefined
  return confirmed
}

/** While `dirty`, leaving asks: by a link, by back, and by closing the tab. */
export function useLeaveGuard(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return
    const mine: Ask = () => question()
    ask = mine
    const stay = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', stay)
    return () => {
      if (ask === mine) ask = undefined
      window.removeEventListener('beforeunload', stay)
    }
  }, [dirty])
}

/** The same for a page whose edits outlive its own changes of address. */
export function usePageLeaveGuard(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return
    const mine = { path: window.location.pathname }
    edited = mine
    const stay = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', stay)
    return () => {
      if (edited === mine) edited = undefined
      window.removeEventListener('beforeunload', stay)
    }
  }, [dirty])
}

/** Asks now, as closing a form does. */
export const askBeforeLeaving = mayLeave

/** What was typed is saved: nothing would be lost any more. */
export const nothingToLose = (): void => {
  ask = undefined
}

type Navigate = ReturnType<typeof useBrowserLocation>[1]

/** The router's location, whose every move asks first where something would be lost. */
export const useGuardedLocation: BaseLocationHook = () => {
  const [path, navigate] = useBrowserLocation()
  const guarded: Navigate = (to, options) => {
    if (!losesSomething(String(to))) navigate(to, options)
    else void mayGo().then((confirmed) => confirmed && navigate(to, options))
  }
  return [path, guarded]
}

let returning = false

/** Back and forward cannot be stopped, only undone: the address is put back while the question stands. */
export function guardHistory(): void {
  let here = window.location.href
  const note = () => {
    here = window.location.href
  }
  window.addEventListener('pushState', note)
  window.addEventListener('replaceState', note)
  window.addEventListener(
    'popstate',
    (event) => {
      if (returning || !losesSomething(window.location.href)) {
        returning = false
        note()
        return
      }
      event.stopImmediatePropagation()
      const there = window.location.href
      window.history.pushState(null, '', here)
      void mayGo().then((confirmed) => {
        if (!confirmed) return
        returning = true
        window.history.pushState(null, '', there)
        window.dispatchEvent(new PopStateEvent('popstate'))
      })
    },
    { capture: true },
  )
}

export const leaveWords = () => ({
  title: t('放弃未保存的修改？'),
  body: t('离开后，已填写的内容将会丢失。'),
  confirmLabel: t('放弃修改'),
  cancelLabel: t('继续编辑'),
})
