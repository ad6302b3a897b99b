import { has, numberOf, type Directives } from './directives.ts'
import type { Failure } from './prompt.ts'
import type { Framing, StreamEvent, Vendor } from './types.ts'

type Ending = 'end' | 'cut' | 'stall'
/** A stream ready to be written: one chunk an event. */
export type Script = { chunks: Iterable<string | Buffer>; ending: Ending }

const lineEnds: Record<string, string> = { crlf: '\r\n', cr: '\r', lf: '\n' }

function frame({ event, data }: StreamEvent, directives: Directives): string {
  const end = lineEnds[directives['framing'] ?? 'lf'] ?? '\n'
  const colon = has(directives, 'nospace') ? ':' : ': '
  const lines = has(directives, 'comments') ? [`:${colon === ':' ? '' : ' '}keep-alive`, ''] : []
  if (event !== undefined) lines.push(`event${colon}${event}`)
  const spread = has(directives, 'multiline') && data.startsWith('{')
  const texts = spread ? JSON.stringify(JSON.parse(data), null, 1).split('\n') : [data]
  for (const text of texts) lines.push(`data${colon}${text}`)
  return lines.join(end) + end + end
}

/** Where the stream stops early, and how: the first of the stopping directives. */
function stopOf(directives: Directives, length: number): { after: number; how: Ending | 'error' } {
  const stops = [
    { after: numberOf(directives, 'cut'), how: 'cut' as const },
    { after: numberOf(directives, 'fin'), how: 'end' as const },
    { after: numberOf(directives, 'stall'), how: 'stall' as const },
    { after: numberOf(directives, 'errorevent'), how: 'error' as const },
  ]
  let first: { after: number; how: Ending | 'error' } = { after: length, how: 'end' }
  for (const { after, how } of stops) if (after !== undefined && after < first.after) first = { after, how }
  return first
}

/** A line without an end, in pieces so that a gigabyte needs no memory. */
function* endlessLine(bytes: number): Generator<string> {
  const piece = 'x'.repeat(65_536)
  yield 'data: {"filler":"'
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
}

export type ScriptOptions = {
  directives: Directives
  vendor: Vendor
  failure: Failure
  array: boolean
  framing?: Framing | undefined
}

const broken = '{"broken": tru'

export function scriptOf(given: StreamEvent[], { directives, vendor, failure, array, framing }: ScriptOptions): Script {
  if (has(directives, 'empty')) return { chunks: [], ending: 'end' }
  const endless = numberOf(directives, 'endless')
  if (endless !== undefined) return { chunks: endlessLine(endless), ending: 'end' }
  const malformed = numberOf(directives, 'malformed')
  const stop = stopOf(directives, given.length)
  const events = given
    .map((event, index) => (index + 1 === malformed ? { ...event, data: broken } : event))
    .slice(0, stop.after)
  if (stop.how === 'error') events.push(vendor.streamError(failure))
  const ending = stop.how === 'error' ? 'end' : stop.how
  if (array) {
    const items = events.map((event, index) => `${index === 0 ? '[' : ',\r\n'}${event.data}`)
    return { chunks: stop.after < given.length && stop.how !== 'error' ? items : [...items, ']'], ending }
  }
  if (framing) return { chunks: events.map(framing.frame), ending }
  const chunks = events.map((event) => frame(event, directives))
  const last = chunks.length - 1
  if (has(directives, 'bom') && chunks[0] !== undefined) chunks[0] = `\uFEFF${chunks[0]}`
  if (has(directives, 'nofinal') && chunks[last] !== undefined) chunks[last] = chunks[last].replace(/[\r\n]+$/, '')
  return { chunks, ending }
}
