import type { Ambient } from '#core/ambient.ts'
import type { EventWriter } from './event-writer.ts'

/** Where an item stands in the output. */
export type Place = { item_id: string; output_index: number }

/** The output of a streamed response: an item takes its place when it begins and is replaced when it is done. */
export function createOutputItems(writer: EventWriter, ambient: Ambient) {
  const output: object[] = []
  return {
    output,
    begin(prefix: string, toItem: (id: string) => object): { place: Place; text: string } {
      const place = { item_id: `${prefix}_${ambient.newId(24)}`, output_index: output.length }
      const item = toItem(place.item_id)
      output.push(item)
      return { place, text: writer.event('response.output_item.added', { output_index: place.output_index, item }) }
    },
    finish({ output_index }: Place, item: object): string {
      output[output_index] = item
      return writer.event('response.output_item.done', { output_index, item })
    },
  }
}

export type OutputItems = ReturnType<typeof createOutputItems>
