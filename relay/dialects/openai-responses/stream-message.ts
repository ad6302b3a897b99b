import { shifted } from '#relay/chat/citations.ts'
import type { Citation } from '#relay/chat/events.ts'
import { type EventWriter, deltaHead } from './event-writer.ts'
import { type ItemStatus, messageItem, outputText } from './output-items.ts'
import { toFlatAnnotation } from './response-object.ts'
import type { Place, OutputItems } from './item-list.ts'

type Part = {
  isText: boolean
  text: string
  annotations: object[]
  head: string
  /** Length of the answer's text before it: offsets count in the part itself. */
  before: number
}

const textEnd = ',"logprobs":[]'

const toContent = ({ isText, text, annotations }: Part): object =>
  isText ? outputText(text, annotations) : { type: 'refusal', refusal: text }

/** A message item being written: parts of text and refusal, one after the other. */
export function openMessage(outputItems: OutputItems, writer: EventWriter) {
  const { place, text: opening } = outputItems.begin('msg', (id) => messageItem(id, [], 'in_progress'))
  const done: object[] = []
  let part: Part | undefined
  const here = (): Place & { content_index: number } => ({ ...place, content_index: done.length })

  const closePart = (): string => {
    if (part === undefined) return ''
    const at = here()
    const content = toContent(part)
    const written = part.isText
      ? writer.event('response.output_text.done', { ...at, text: part.text, logprobs: [] })
      : writer.event('response.refusal.done', { ...at, refusal: part.text })
    done.push(content)
    part = undefined
    return written + writer.event('response.content_part.done', { ...at, part: content })
  }
  const startPart = (isText: boolean, textBefore: number): { part: Part; text: string } => {
    const before = closePart()
    const head = deltaHead(isText ? 'response.output_text.delta' : 'response.refusal.delta', here())
    const fresh: Part = { isText, text: '', annotations: [], head, before: textBefore }
    part = fresh
    return {
      part: fresh,
      text: before + writer.event('response.content_part.added', { ...here(), part: toContent(fresh) }),
    }
  }

  return {
    kind: 'message' as const,
    opening,
    say(isText: boolean, delta: string, textBefore: number): string {
      const current = part?.isText === isText ? { part, text: '' } : startPart(isText, textBefore)
      current.part.text += delta
      return current.text + writer.delta(current.part.head, delta, isText ? textEnd : '')
    },
    cite(citation: Citation): string {
      if (part?.isText !== true) return ''
      const annotation = toFlatAnnotation(shifted(citation, -part.before))
      const at = { ...here(), annotation_index: part.annotations.length }
      part.annotations.push(annotation)
      return writer.event('response.output_text.annotation.added', { ...at, annotation })
    },
    close: (status: ItemStatus): string =>
      closePart() + outputItems.finish(place, messageItem(place.item_id, done, status)),
  }
}
