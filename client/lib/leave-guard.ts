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

const mayLeave = async (): Promise<boolean> => {
  if (ask === undefined) return true
  const confirmed = await ask()
  if (confirmed) ask = undefined
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
    if (ask === undefined) navigate(to, options)
    else void mayLeave().then((confirmed) => confirmed && navigate(to, options))
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
      if (returning || ask === undefined) {
        returning = false
        note()
        return
      }
      event.stopImmediatePropagation()
      const there = window.location.href
      window.history.pushState(null, '', here)
      void mayLeave().then((confirmed) => {
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
