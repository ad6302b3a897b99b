import { Box, Portal } from '@chakra-ui/react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'

type Shown = { text: string; x: number; y: number; below: boolean }

const delayMilliseconds = 350

const place = (element: Element, text: string): Shown => {
  const box = element.getBoundingClientRect()
  const below = box.top < 48
  return { text, x: box.left + box.width / 2, y: below ? box.bottom + 6 : box.top - 6, below }
}

/** More than a tip can show. */
const mostLetters = 600

const isCut = (element: Element): boolean => {
  if (element.scrollWidth <= element.clientWidth && element.scrollHeight <= element.clientHeight) return false
  const { textOverflow, webkitLineClamp } = getComputedStyle(element)
  return (
    (textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth) ||
    (webkitLineClamp !== 'none' && element.scrollHeight > element.clientHeight)
  )
}

/** The tip of an element or of what it stands in; without one, the text that has no room there. */
function tipAt(target: EventTarget | null): { element: Element; text: string } | undefined {
  for (let at = target instanceof Element ? target : null; at && at !== document.body; at = at.parentElement) {
    const text = at.getAttribute('data-tip')
    if (text) return { element: at, text }
    if (isCut(at)) return { element: at, text: (at.textContent ?? '').slice(0, mostLetters) }
  }
  return undefined
}

/**
 * Shows the `data-tip` of whatever the pointer or the focus is on, and the whole of a text that is cut there. One listener
 * for the whole page: a table of a thousand cells pays nothing for its hints. The text is a repetition or a refinement,
 * never the only name of a control.
 */
export function HoverTips() {
  const [shown, setShown] = useState<Shown>()
  const tip = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!shown || !tip.current) return
    const half = tip.current.offsetWidth / 2 + 8
    tip.current.style.left = `${Math.max(half, Math.min(shown.x, window.innerWidth - half))}px`
  }, [shown])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const hide = () => {
      clearTimeout(timer)
      setShown(undefined)
    }
    const show = (event: Event) => {
      hide()
      const { target } = event
      timer = setTimeout(() => {
        const tip = tipAt(target)
        if (tip?.element.isConnected) setShown(place(tip.element, tip.text))
      }, delayMilliseconds)
    }
    const showFocused = (event: Event) => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) show(event)
    }
    const leave = new AbortController()
    const options = { signal: leave.signal, passive: true }
    document.addEventListener('pointerover', show, options)
    document.addEventListener('focusin', showFocused, options)
    for (const name of ['pointerdown', 'focusout', 'keydown']) document.addEventListener(name, hide, options)
    document.addEventListener('scroll', hide, { ...options, capture: true })
    return () => {
      leave.abort()
      clearTimeout(timer)
    }
  }, [])
  if (!shown) return null
  return (
    <Portal>
      <Box
        ref={tip}
        role="tooltip"
        position="fixed"
        pointerEvents="none"
        zIndex="tooltip"
        style={{ left: shown.x, top: shown.y, transform: `translate(-50%, ${shown.below ? '0' : '-100%'})` }}
        w="max-content"
        maxW="min(320px, 100vw - 16px)"
        px="2"
        py="1"
        borderRadius="l1"
        bg="bg.inverted"
        color="fg.inverted"
        textStyle="xs"
        whiteSpace="pre-line"
      >
        {shown.text}
      </Box>
    </Portal>
  )
}
