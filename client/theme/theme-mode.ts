import { useSyncExternalStore } from 'react'
import { useStore } from '../lib/store.ts'
import { createStored } from '../lib/stored.ts'

export const themeModes = ['light', 'dark', 'system'] as const
export type ThemeMode = (typeof themeModes)[number]

const isThemeMode = (text: string): text is ThemeMode => themeModes.some((mode) => mode === text)

const stored = createStored<ThemeMode>('theme-mode', {
  parse: (text) => (isThemeMode(text) ? text : 'system'),
  format: (mode) => mode,
  fallback: 'system',
})

const prefersDark = () => window.matchMedia('(prefers-color-scheme: dark)')

const isDark = (): boolean => {
  const mode = stored.get()
  return mode === 'dark' || (mode === 'system' && prefersDark().matches)
}

const show = (dark: boolean) => {
  const root = document.documentElement
  root.classList.toggle('dark', dark)
  root.classList.toggle('light', !dark)
  root.style.colorScheme = dark ? 'dark' : 'light'
}

const apply = () => show(isDark())

/** Keeps the document in step with the stored choice and with the system's, for the life of the page. */
export function followThemeMode(): void {
  apply()
  stored.subscribe(apply)
  prefersDark().addEventListener('change', apply)
  // Paper is white.
  window.addEventListener('beforeprint', () => show(false))
  window.addEventListener('afterprint', apply)
}

export const setThemeMode = stored.set

export const useThemeMode = (): ThemeMode => useStore(stored)

const subscribeToBoth = (listener: () => void) => {
  const leave = stored.subscribe(listener)
  const query = prefersDark()
  query.addEventListener('change', listener)
  return () => {
    leave()
    query.removeEventListener('change', listener)
  }
}

/** Whether the page is dark now, for drawings that cannot use the theme's variables. */
export const useIsDark = (): boolean => useSyncExternalStore(subscribeToBoth, isDark)
