import { useEffect, useState } from 'react'
import { fetchedPart } from '../components/fetched-part.ts'
import { isTyping } from '../lib/keyboard.ts'
import { useSession } from '../lib/session.ts'
import { useSearchSources } from './search-sources.ts'
import { closePalette, openPalette, usePaletteOpen } from './palette-state.ts'

const palette = fetchedPart(async () => (await import('./palette.tsx')).Palette)
/** After the page itself has come. */
const preloadAfterMs = 2000

/** What is typed after the palette was opened and before it has come; it begins with that. */
function useTypedAhead(isAwaited: boolean): string {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    if (!isAwaited) return undefined
    const listener = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === 'Escape') closePalette()
      else if (event.key === 'Backspace') setTyped((before) => before.slice(0, -1))
      else if (event.key.length === 1) setTyped((before) => before + event.key)
      // Nothing of it is meant for the page below.
      event.preventDefault()
      event.stopPropagation()
    }
    document.addEventListener('keydown', listener, { capture: true })
    return () => {
      document.removeEventListener('keydown', listener, { capture: true })
      setTyped('')
    }
  }, [isAwaited])
  return typed
}

/** Opens the palette with the command key and K, from anywhere. */
export function PaletteHost() {
  const open = usePaletteOpen()
  const Palette = palette.usePart(open, closePalette)
  const typedAhead = useTypedAhead(open && Palette === undefined)
  useSearchSources()
  const isSignedIn = useSession().user !== undefined
  useEffect(() => {
    if (!isSignedIn) return undefined
    const timer = setTimeout(palette.preload, preloadAfterMs)
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
  return open && Palette && <Palette first={typedAhead} />
}
