import type { ChatEvent, Citation } from '#relay/chat/events.ts'
import { type Fields, parseObject } from '#relay/chat/json.ts'

/** Writes an event of the stream; nobody may be there to read it. */
type Emit = (type: string, fields: Fields) => void

type Open = { kind: 'model_output' | 'thought' | 'function_call'; index: number; callIndex?: number; written: string }

const toAnnotation = ({ url, title, startIndex, endIndex }: Citation): Fields => ({
  type: 'url_citation',
  url,
  title: title ?? '',
  start_index: startIndex ?? 0,
  end_index: endIndex ?? 0,
})

/** Hub events → steps of an interaction, in the order they came. What is said without interruption is one step. */
export function createAnswerSteps(emit: Emit) {
  const steps: Fields[] = []
  let open: Open | undefined

  const close = (): void => {
    if (!open) return
    const step = steps[open.index]
    if (open.kind === 'function_call' && step) step['arguments'] = parseObject(open.written) ?? {}
    emit('step.stop', { index: open.index })
    open = undefined
  }
  const begin = (kind: Open['kind'], step: Fields, callIndex?: number): Open => {
    close()
    open = { kind, index: steps.length, written: '', ...(callIndex === undefined ? {} : { callIndex }) }
    steps.push(step)
    emit('step.start', { index: open.index, step: structuredClone(step) })
    return open
  }
  const delta = ({ index }: Open, fields: Fields): void => emit('step.delta', { index, delta: fields })
  const opened = (kind: 'model_output' | 'thought'): Open => {
    if (open?.kind === kind) return open
    return begin(kind, kind === 'thought' ? { type: kind, summary: [] } : { type: kind, content: [] })
  }
  const listIn = ({ index, kind }: Open): Fields[] =>
    steps[index]?.[kind === 'thought' ? 'summary' : 'content'] as Fields[]
  const addText = (into: Open, text: string): void => {
    const list = listIn(into)
    const last = list.at(-1)
    if (last?.['type'] === 'text') last['text'] = String(last['text']) + text
    else list.push({ type: 'text', text })
  }
  const say = (text: string): void => {
    if (text === '') return
    const step = opened('model_output')
    addText(step, text)
    delta(step, { type: 'text', text })
  }
  const show = (content: Fields): void => {
    const step = opened('model_output')
    listIn(step).push(content)
    delta(step, content)
  }
  const prove = (signature: string): void => {
    const step = opened('thought')
    Object.assign(steps[step.index] ?? {}, { signature })
    delta(step, { type: 'thought_signature', signature })
    close()
  }
  const cite = (citation: Citation): void => {
    const last = open?.kind === 'model_output' ? listIn(open).at(-1) : undefined
    if (!open || last?.['type'] !== 'text') return
    const annotations = [toAnnotation(citation)]
    last['annotations'] = [...((last['annotations'] as Fields[] | undefined) ?? []), ...annotations]
    delta(open, { type: 'text_annotation_delta', annotations })
  }

  return {
    steps,
    close,
    push(event: ChatEvent): void {
      switch (event.type) {
        case 'text-delta':
        case 'refusal-delta':
          return say(event.text)
        case 'reasoning-delta': {
          if (event.text === '') return
          const step = opened('thought')
          addText(step, event.text)
          return delta(step, { type: 'thought_summary', content: { type: 'text', text: event.text } })
        }
        case 'reasoning-signature':
          return event.dialect === 'gemini' ? prove(event.value) : undefined
        case 'tool-call-start': {
          if (event.signature?.dialect === 'gemini') {
            close()
            prove(event.signature.value)
          }
          const { id, name } = event
          begin('function_call', { type: 'function_call', id, name, arguments: {} }, event.index)
          return
        }
        case 'tool-call-delta': {
          if (open?.callIndex !== event.index || event.arguments === '') return
          open.written += event.arguments
          return delta(open, { type: 'arguments_delta', arguments: event.arguments })
        }
        case 'tool-call-end':
          return open?.callIndex === event.index ? close() : undefined
        case 'image':
          return show({ type: 'image', mime_type: event.mediaType, data: event.data })
        case 'audio-delta':
          if (event.transcript) say(event.transcript)
          return event.data === '' ? undefined : show({ type: 'audio', data: event.data })
        case 'citation':
          return cite(event.citation)
        default:
      }
    },
  }
}
