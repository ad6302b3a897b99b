import { Suspense, lazy, useEffect } from 'react'
import { isTyping } from '../lib/keyboard.ts'
import { useSearchSources } from './search-sources.ts'
import { closePalette, openPalette, usePaletteOpen } from './palette-state.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

/** Opens the palette with the command key and K, from anywhere. */
export function PaletteHost() {
  const open = usePaletteOpen()
  useSearchSources()
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      // A dialog that asks something goes first.
      if (!open && isTyping(event.target) && document.querySelector('[role=alertdialog]')) return
      event.preventDefault()
      if (open) closePalette()
      else openPalette()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [open])
  return open ? (
    <Suspense fallback={null}>
      <Palette />
    </Suspense>
  ) : null
}
