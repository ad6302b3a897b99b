import { useEffect, useMemo, useState } from 'react'
import type { BaseLocationHook } from 'wouter'
import { useBrowserLocation } from 'wouter/use-browser-location'
import { t } from '../i18n/t.ts'

type Ask = () => Promise<boolean>

/** Who puts the question is decided by the app, so that this file knows no dialog. */
let question: Ask = async () => true
export const setLeaveQuestion = (next: Ask): void => {
  question = next
}

/** The forms with unsaved changes; one may lie above another. */
const unsaved = new Set<symbol>()

/** The same, and those whose changes are on their way to the server, which may refuse them. */
const typed = new Set<symbol>()

/** A whole page that is being edited: its own tabs and filters are no way out of it. */
let edited: { path: string } | undefined

/** A form that closes takes no other with it, even where the address says what is open. */
let isClosing = false

/** Something would be lost with this page. */
export const holdsTyped = (): boolean => typed.size > 0 || edited !== undefined

const leavesPage = (address: string, path: string): boolean => new URL(address, window.location.href).pathname !== path

const losesSomething = (address: string): boolean =>
  !isClosing && (unsaved.size > 0 || (edited !== undefined && leavesPage(address, edited.path)))

/** What stays on the page stays guarded: what goes takes its own guard away. */
async function mayGo(address: string): Promise<boolean> {
  const leaves = leavesPage(address, window.location.pathname)
  const confirmed = await question()
  if (confirmed && leaves) {
    unsaved.clear()
    typed.clear()
    edited = undefined
  }
  return confirmed
}

/** For what goes elsewhere by itself. Asks where something would be lost. */
export const mayLeaveFor = async (address: string): Promise<boolean> =>
  !losesSomething(address) || (await mayGo(address))

type LeaveGuard = {
  /** What was typed is saved: nothing would be lost any more. */
  forget: () => void
  /** Closes the form, after the question where something would be lost. */
  close: (onClose: () => void) => Promise<void>
}

/** While `dirty`, leaving asks: by a link, by back, and by closing the tab. Not while the changes are being sent. */
export function useLeaveGuard(dirty: boolean, isSending = false): LeaveGuard {
  const [form] = useState(() => Symbol('form'))
  useEffect(() => {
    if (!dirty) return
    typed.add(form)
    return () => void typed.delete(form)
  }, [dirty, form])
  useEffect(() => {
    if (!dirty || isSending) return
    unsaved.add(form)
    const stay = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', stay)
    return () => {
      unsaved.delete(form)
      window.removeEventListener('beforeunload', stay)
    }
  }, [dirty, isSending, form])
  return useMemo(() => {
    const forget = () => {
      unsaved.delete(form)
      typed.delete(form)
    }
    return {
      forget,
      close: async (onClose) => {
        if (unsaved.has(form) && !(await question())) return
        forget()
        isClosing = true
        try {
          onClose()
        } finally {
          isClosing = false
        }
      },
    }
  }, [form])
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

type Navigate = ReturnType<typeof useBrowserLocation>[1]

/** The router's location, whose every move asks first where something would be lost. */
export const useGuardedLocation: BaseLocationHook = () => {
  const [path, navigate] = useBrowserLocation()
  const guarded: Navigate = (to, options) => {
    // A step forward would be what is taken back by one that is still under way.
    if (stepping) void stepping.then(() => guarded(to, options))
    else if (!losesSomething(String(to))) navigate(to, options)
    else void mayGo(String(to)).then((confirmed) => confirmed && navigate(to, options))
  }
  return [path, guarded]
}

let returning = false
/** A step back that has been asked for; browsers take it later. */
let stepping: Promise<void> | undefined

/** Far longer than a slow phone needs: a step that is taken after all would take away what was opened meanwhile. */
const longestStepMs = 15_000

/** Leaves a step of the history that shows what the one before it shows: nothing changes by that, and nothing is lost. */
export function stepBack(): void {
  const taken = new Promise<void>((resolve) => {
    window.addEventListener('popstate', () => resolve(), { once: true })
    setTimeout(resolve, longestStepMs)
  })
  stepping = taken
  void taken.then(() => (stepping = undefined))
  window.history.back()
}

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
      if (returning || stepping || !losesSomething(window.location.href)) {
        returning = false
        note()
        return
      }
      event.stopImmediatePropagation()
      const there = window.location.href
      window.history.pushState(null, '', here)
      void mayGo(there).then((confirmed) => {
        if (!confirmed) return
        returning = true
        window.history.pushState(null, '', there)
        window.dispatchEvent(new PopStateEvent('popstate'))
      })
    },
    { capture: true },
  )
}

/** For an act that gives changes up and stays. */
export const discardWords = () => ({ ...leaveWords(), body: t('已填写的内容将会丢失。') })

export const leaveWords = () => ({
  title: t('放弃未保存的修改？'),
  body: t('离开后，已填写的内容将会丢失。'),
  confirmLabel: t('放弃修改'),
  cancelLabel: t('继续编辑'),
  danger: true,
})
