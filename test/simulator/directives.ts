/**
 * What a request asks of the simulated provider: failures, pace, framing. Directives travel as a path prefix
 * (`/~status=500,delay=20/v1/…`, so that a channel's address can carry them), in the header `x-sim`, or in the last user
 * text as `[[status=500]]`; the later named wins. Values are percent-decoded, so a comma is written `%2C`.
 */
export type Directives = Readonly<Record<string, string>>

export const directiveNames = {
  status: 'answer with this HTTP status and the vendor’s error body',
  message: 'text of the error',
  code: 'code of the error',
  type: 'type of the error',
  retryafter: 'header retry-after, seconds',
  retryafterms: 'header retry-after-ms',
  header: 'a response header, name:value',
  contenttype: 'content-type of the reply',
  delay: 'milliseconds before the headers',
  gate: 'no headers before the test opens the gate of this name',
  gateat: 'a stream waits at that gate after K events instead of before its headers',
  gap: 'milliseconds between stream events',
  words: 'length of the answer in words',
  events: 'exact number of text deltas of a stream',
  limited: 'what `words`, `events` and `thinking` order ends at the output limit, as with a model that keeps it',
  big: 'characters of filler added to the answer as one delta',
  blank: 'an answer without text',
  thinking: 'the answer begins with reasoning; a number sets its words',
  tool: 'call this tool; several joined by +',
  calls: 'call the first N of the tools on offer, whatever they are called',
  args: 'arguments of the tool call: empty, broken, or the text itself',
  finish: 'finish reason: stop, length, tool-calls, content-filter',
  usage: 'prompt:completion:cached:cacheWrite:reasoning, any value; quotes make it a string',
  usageat: 'OpenAI chat streams: first, each, finish or last (default) chunk',
  audio: 'realtime: heard:spoken, which of the tokens were sound',
  closecode: 'realtime: code of the close that `fin` orders; `message` is its reason',
  nousage: 'report no usage',
  fail: 'failures hit only the first N requests of this key and directive text',
  every: 'failures hit only every Nth request of this key and directive text',
  reset: 'destroy the socket before any byte',
  hang: 'accept and never answer',
  cut: 'destroy the socket after K events (0: after the headers)',
  fin: 'end cleanly after K events, without finish or end marker',
  stall: 'fall silent after K events and keep the connection',
  malformed: 'event K (from 1) is not JSON; an unstreamed body is not JSON',
  errorevent: 'an error event after K events, then the end',
  empty: '200 without a body or without events',
  html: '200 with an HTML page',
  error200: '200 with an error body',
  endless: 'a stream line of this many bytes without an end',
  bomb: 'this many megabytes of zeros, gzip-packed',
  encoding: 'gzip, br, zstd or deflate',
  framing: 'crlf, cr or lf',
  split: 'write in pieces of N bytes',
  onebyte: 'write single bytes',
  comments: 'a comment before every event',
  bom: 'begin the stream with a byte order mark',
  nospace: 'no space after the colon',
  multiline: 'the JSON of an event over several data lines',
  nofinal: 'leave out the blank line after the last event',
  lenient: 'take fields and values that the vendor refuses',
  mjcode: 'code of the answer to a drawing: 1, 3, 4, 5, 21 to 24, 30',
  job: 'how a drawing or a piece of music goes: success, failure, running, waiting, lost',
  polls: 'the question after it that finds it ended (2)',
  percent: 'hold it at this progress',
  lineless: 'the results of a batch lack their last line the first so many times they are read',
  fixed: 'do not look at the body: one prepared answer (for benchmarks)',
} as const
export type DirectiveName = keyof typeof directiveNames

const isName = (name: string): name is DirectiveName => Object.hasOwn(directiveNames, name)

/** @throws {Error} for an unknown name, so that a mistyped test does not pass by accident. */
export function parseDirectives(text: string): Directives {
  const directives: Record<string, string> = {}
  for (const item of text.split(',')) {
    if (item.trim() === '') continue
    const equals = item.indexOf('=')
    const name = (equals < 0 ? item : item.slice(0, equals)).trim()
    if (!isName(name)) throw new Error(`unknown directive "${name}"`)
    directives[name] = equals < 0 ? '' : decodeURIComponent(item.slice(equals + 1))
  }
  return directives
}

const inText = /\[\[([^[\]]+)\]\]/g

/** Takes `[[…]]` out of a text. Brackets that hold no directive stay. */
export function takeDirectives(text: string): { text: string; directives: Directives } {
  if (!text.includes('[[')) return { text, directives: {} }
  let directives: Directives = {}
  const rest = text.replace(inText, (match, inner: string) => {
    if (!isName(inner.split(/[=,]/, 1)[0]?.trim() ?? '')) return match
    directives = { ...directives, ...parseDirectives(inner) }
    return ''
  })
  return { text: rest.trim(), directives }
}

/** `/~a=1,b/v1/x` → the directives' text and `/v1/x`. */
export function takePrefix(path: string): { text: string; path: string } {
  if (!path.startsWith('/~')) return { text: '', path }
  const slash = path.indexOf('/', 2)
  return slash < 0 ? { text: path.slice(2), path: '/' } : { text: path.slice(2, slash), path: path.slice(slash) }
}

export const has = (directives: Directives, name: DirectiveName) => directives[name] !== undefined

export function numberOf(directives: Directives, name: DirectiveName): number | undefined {
  const text = directives[name]
  if (text === undefined) return undefined
  const value = text === '' ? 0 : Number(text)
  if (Number.isNaN(value)) throw new Error(`directive "${name}" wants a number, not "${text}"`)
  return value
}

/** Figures joined by colons; none without the directive. */
export const numbersOf = (directives: Directives, name: DirectiveName): number[] =>
  directives[name] === undefined ? [] : directives[name].split(':').map(Number)
