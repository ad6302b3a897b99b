import { shifted } from '#relay/chat/citations.ts'
import type { ChatEvent, Citation } from '#relay/chat/events.ts'
import { type Fields, parseObject } from '#relay/chat/json.ts'

/** Writes an event of the stream; nobody may be there to read it. */
type Emit = (type: string, fields: Fields) => void

type Open = { kind: 'model_output' | 'thought'; index: number }
type OpenCall = { index: number; written: string }

/** Offsets count in bytes of the content that is cited. */
function toAnnotation({ url, title, startIndex = 0, endIndex = 0 }: Citation, text: string): Fields {
  const bytes = (units: number): number => Buffer.byteLength(text.slice(0, units))
  return {
    type: 'url_citation',
    url,
    title: title ?? '',
    start_index: bytes(startIndex),
    end_index: bytes(endIndex),
  }
}

/** Hub events → steps of an interaction, in the order they came. What is said without interruption is one step. */
export function createAnswerSteps(emit: Emit) {
  const steps: Fields[] = []
  let open: Open | undefined
  /** Length of the answer's text, and of what stood before the content that is written. */
  let written = 0
  let before = 0
  /** Calls whose arguments still come, by their numbers; upstreams may write several at once. */
  const calls = new Map<number, OpenCall>()

  const closeCall = (number: number): void => {
    const call = calls.get(number)
    if (!call) return
    calls.delete(number)
    Object.assign(steps[call.index] ?? {}, { arguments: parseObject(call.written) ?? {} })
    emit('step.stop', { index: call.index })
  }
  const closeOpen = (): void => {
    if (!open) return
    emit('step.stop', { index: open.index })
    open = undefined
  }
  const close = (): void => {
    closeOpen()
    for (const number of calls.keys()) closeCall(number)
  }
  const begin = (step: Fields): number => {
    closeOpen()
    const index = steps.push(step) - 1
    emit('step.start', { index, step: structuredClone(step) })
    return index
  }
  const delta = ({ index }: { index: number }, fields: Fields): void => emit('step.delta', { index, delta: fields })
  const opened = (kind: 'model_output' | 'thought'): Open => {
    if (open?.kind === kind) return open
    const index = begin(kind === 'thought' ? { type: kind, summary: [] } : { type: kind, content: [] })
    open = { kind, index }
    return open
  }
  const listIn = ({ index, kind }: Open): Fields[] =>
    steps[index]?.[kind === 'thought' ? 'summary' : 'content'] as Fields[]
  const addText = (into: Open, text: string): void => {
    const list = listIn(into)
    const last = list.at(-1)
    if (last?.['type'] === 'text') last['text'] = String(last['text']) + text
    else {
      before = written
      list.push({ type: 'text', text })
    }
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
    closeOpen()
  }
  const cite = (citation: Citation): void => {
    const last = open?.kind === 'model_output' ? listIn(open).at(-1) : undefined
    if (!open || last?.['type'] !== 'text') return
    const annotations = [toAnnotation(shifted(citation, -before), String(last['text']))]
    last['annotations'] = [...((last['annotations'] as Fields[] | undefined) ?? []), ...annotations]
    delta(open, { type: 'text_annotation_delta', annotations })
  }

  return {
    steps,
    close,
    push(event: ChatEvent): void {
      switch (event.type) {
        case 'text-delta':
          say(event.text)
          written += event.text.length
          return
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
            closeOpen()
            prove(event.signature.value)
          }
          const { id, name } = event
          closeCall(event.index)
          calls.set(event.index, { index: begin({ type: 'function_call', id, name, arguments: {} }), written: '' })
          return
        }
        case 'tool-call-delta': {
          const call = calls.get(event.index)
          if (!call || event.arguments === '') return
          call.written += event.arguments
          return delta(call, { type: 'arguments_delta', arguments: event.arguments })
        }
        case 'tool-call-end':
          return closeCall(event.index)
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
