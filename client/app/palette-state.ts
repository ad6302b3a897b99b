import { createStore, useStore } from '../lib/store.ts'

const open = createStore(false)

export const openPalette = (): void => open.set(true)
export const closePalette = (): void => open.set(false)

export const usePaletteOpen = (): boolean => useStore(open)
