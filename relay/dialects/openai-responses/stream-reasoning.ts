import { type EventWriter, deltaHead } from './event-writer.ts'
import { reasoningItem } from './output-items.ts'
import type { OutputItems } from './item-list.ts'

/** A reasoning item being written; its text stands as a summary of one part. */
export function openReasoning(outputItems: OutputItems, writer: EventWriter) {
  const { place, text: opening } = outputItems.begin('rs', (id) =>
    reasoningItem(id, { text: '', encrypted: undefined }, 'in_progress'),
  )
  const at = { ...place, summary_index: 0 }
  const head = deltaHead('response.reasoning_summary_text.delta', at)
  let reasoning = ''
  return {
    kind: 'reasoning' as const,
    opening,
    think(text: string): string {
      const part = { type: 'summary_text', text: '' }
      const added = reasoning === '' ? writer.event('response.reasoning_summary_part.added', { ...at, part }) : ''
      reasoning += text
      return added + writer.delta(head, text)
    },
    close(encrypted?: string): string {
      const item = reasoningItem(place.item_id, { text: reasoning, encrypted }, 'completed')
      if (reasoning === '') return outputItems.finish(place, item)
      const part = { type: 'summary_text', text: reasoning }
      return (
        writer.event('response.reasoning_summary_text.done', { ...at, text: reasoning }) +
        writer.event('response.reasoning_summary_part.done', { ...at, part }) +
        outputItems.finish(place, item)
      )
    },
  }
}
