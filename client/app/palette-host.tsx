import { Suspense, lazy, useEffect } from 'react'
import { isTyping } from '../lib/keyboard.ts'
import { useSession } from '../lib/session.ts'
import { useSearchSources } from './search-sources.ts'
import { closePalette, openPalette, usePaletteOpen } from './palette-state.ts'

const load = async () => ({ default: (await import('./palette.tsx')).Palette })
const Palette = lazy(load)
/** After the page itself has come. */
const preloadAfterMs = 2000

/** Opens the palette with the command key and K, from anywhere. */
export function PaletteHost() {
  const open = usePaletteOpen()
  useSearchSources()
  const isSignedIn = useSession().user !== undefined
  useEffect(() => {
    if (!isSignedIn) return undefined
    // What is typed right after its key must not be lost while it is fetched; where it cannot be, opening it tries again.
    const timer = setTimeout(() => void load().catch(() => undefined), preloadAfterMs)
    return () => clearTimeout(timer)
  }, [isSignedIn])
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
