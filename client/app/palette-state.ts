import { useSyncExternalStore } from 'react'

let open = false
const listeners = new Set<() => void>()

const set = (next: boolean) => {
  open = next
  listeners.forEach((listener) => listener())
}

export const openPalette = (): void => set(true)
export const closePalette = (): void => set(false)

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const usePaletteOpen = (): boolean => useSyncExternalStore(subscribe, () => open)
