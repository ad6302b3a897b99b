import type { RefObject } from 'react'
import { useEffect } from 'react'
import { isTyping } from '../../lib/keyboard.ts'

type RowKeys = {
  table: RefObject<HTMLElement | null>
  /** Called with the row's place on the page. */
  onOpen: ((index: number) => void) | undefined
  onSelect: ((index: number) => void) | undefined
  /** While a row is open beside the table, moving opens the next one. */
  isOpen: boolean
}

const steps: Record<string, number> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }

const rowsOf = (table: HTMLElement) => [...table.querySelectorAll<HTMLTableRowElement>('tbody tr[data-row]')]

/** J and K or the arrows move, Enter opens, X selects. The keys work before the table was ever touched. */
export function useRowKeys({ table, onOpen, onSelect, isOpen }: RowKeys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const element = table.current
      if (!element || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isTyping(event.target)) return
      const rows = rowsOf(element)
      const focused = rows.findIndex((row) => row === document.activeElement)
      const step = steps[event.key]
      if (step !== undefined) {
        const inside = element.contains(document.activeElement)
        // Arrows scroll the page unless the reader is in the table.
        if (event.key.startsWith('Arrow') && (!inside || focused < 0)) return
        const opened = rows.findIndex((row) => row.getAttribute('aria-current') === 'true')
        const from = focused >= 0 ? focused : isOpen ? opened : step > 0 ? -1 : rows.length
        const next = rows[Math.min(Math.max(from + step, 0), rows.length - 1)]
        if (!next) return
        event.preventDefault()
        next.focus()
        if (isOpen) onOpen?.(rows.indexOf(next))
        return
      }
      if (focused < 0) return
      if (event.key === 'Enter' && onOpen) {
        event.preventDefault()
        onOpen(focused)
      }
      if (event.key === 'x' && onSelect) onSelect(focused)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [table, onOpen, onSelect, isOpen])
}
