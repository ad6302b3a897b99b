import type { ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordOf, recordsOf, sumOf, wordOf } from '../shared/json.ts'

const figures = [
  'promptTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'completionTokens',
  'reasoningTokens',
  'webSearchCalls',
] as const satisfies (keyof ReportedUsage)[]

/** What this dialect reports; figures of several messages are added up by the same list. */
type Figures = Record<(typeof figures)[number], number | undefined>

type Tokens = Omit<Figures, 'reasoningTokens' | 'webSearchCalls'>

/** Requests that the totals hold; those of compactions and advisors stand beside them. */
const isInTotals = ({ type }: Json): boolean => type === 'message' || type === 'fallback_message'

type Writes = { long: number | undefined; all: number | undefined }

/** Writes to the cache by how long they are kept, where that is said. */
function writesOf(usages: readonly Json[]): Writes {
  const created = usages.map((usage) => recordOf(usage['cache_creation']))
  const long = sumOf(...created.map((one) => countOf(one?.['ephemeral_1h_input_tokens'])))
  return { long, all: sumOf(long, ...created.map((one) => countOf(one?.['ephemeral_5m_input_tokens']))) }
}

/**
 * The part of what was written that is kept for an hour. A stream says it at its beginning, and at its end a larger total, with the
 * requests that tools of the vendor led to: all of it is split as these say, or as its beginning was.
 */
function longLivedOf(usage: Json, written: number | undefined): number | undefined {
  const reported = writesOf([usage])
  if (written === undefined || !(written > (reported.all ?? 0))) return reported.long
  const requests = writesOf(recordsOf(usage['iterations']).filter(isInTotals))
  const { long = 0, all = 0 } = Number(requests.all) > 0 ? requests : reported
  return all > 0 ? Math.round((written * long) / all) : reported.long
}

/** The vendor counts what came from and went into its cache beside the input; the hub counts all input together. */
function readTokens(usage: Json): Tokens {
  const cachedTokens = countOf(usage['cache_read_input_tokens'])
  const cacheWriteTokens = countOf(usage['cache_creation_input_tokens']) ?? writesOf([usage]).all
  return {
    promptTokens: sumOf(countOf(usage['input_tokens']), cachedTokens, cacheWriteTokens),
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: longLivedOf(usage, cacheWriteTokens),
    completionTokens: countOf(usage['output_tokens']),
  }
}

/** Where the vendor shortened the conversation itself on the way, that took a request of its own, counted apart from the rest. */
export function readUsage(usage: Json): Figures {
  const compactions = recordsOf(usage['iterations']).filter((one) => one['type'] === 'compaction')
  const all = [usage, ...compactions].map(readTokens)
  const total = (name: keyof Tokens): number | undefined => sumOf(...all.map((tokens) => tokens[name]))
  return {
    promptTokens: total('promptTokens'),
    cachedTokens: total('cachedTokens'),
    cacheWriteTokens: total('cacheWriteTokens'),
    cacheWrite1hTokens: total('cacheWrite1hTokens'),
    completionTokens: total('completionTokens'),
    reasoningTokens: countOf(recordOf(usage['output_tokens_details'])?.['thinking_tokens']),
    webSearchCalls: countOf(recordOf(usage['server_tool_use'])?.['web_search_requests']),
  }
}

const inputNames = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const

const inputOf = (counts: Json): number =>
  inputNames.reduce((sum, name) => sum + (typeof counts[name] === 'number' ? counts[name] : 0), 0)

/**
 * The same input, split: hosts that find out late what came from their cache begin with all of it as new, and what they say then
 * beside the cache is a part of that.
 */
const splitsInput = (earlier: Json, later: Json): boolean =>
  typeof earlier['input_tokens'] === 'number' &&
  typeof later['input_tokens'] === 'number' &&
  later['input_tokens'] < earlier['input_tokens'] &&
  inputOf(later) >= inputOf(earlier)

/** Upstreams may name any number of counts, `__proto__` too. */
const noCounts = (): Json => Object.create(null) as Json

function addedUsage(one: Figures, other: Figures): Figures {
  const added = { ...one }
  for (const name of figures) added[name] = sumOf(one[name], other[name])
  return added
}

/**
 * Usage over a stream: counts only grow, and a later event that lacks one, or repeats it as zero, does not take it back.
 * Until the closing event reports the output, its first tiny count is no report of it.
 */
export function createUsageCounter() {
  /** Of the messages before the last: a host that begins another in the same stream has had both written. */
  let earlier: Figures | undefined
  /** One of those was written and reports no output, which is then missing in all. */
  let lacksOutput = false
  let id: string | undefined
  /** How much was written before the message that is counted. */
  let writtenBefore = 0
  /** A closing event of that message has come. */
  let closed = false
  let counts = noCounts()
  let isReported = false

  const add = (value: unknown, closing: boolean): void => {
    const reported = recordOf(value) ?? {}
    if (splitsInput(counts, reported)) counts['input_tokens'] = reported['input_tokens']
    for (const [name, later] of Object.entries(reported)) {
      const known = counts[name]
      if (later === null || later === undefined || (name === 'output_tokens' && !closing)) continue
      isReported = true
      const grows = typeof known !== 'number' || typeof later !== 'number' || later > known
      if (grows) counts[name] = later
    }
  }
  return {
    /**
     * A message begins, or is announced once more, be it with another id: proxies write an opening of their own before the upstream's,
     * whose figures are the ones.
     * `written`: how much of the stream was written before, in any measure.
     */
    begin(message: Json | undefined, written: () => number): void {
      const next = wordOf(message?.['id'])
      if (id !== undefined && next !== undefined && next !== id) {
        const now = written()
        const hasSpoken = now > writtenBefore
        if (hasSpoken || closed) {
          const usage = readUsage(counts)
          earlier = earlier ? addedUsage(earlier, usage) : usage
          lacksOutput ||= hasSpoken && usage.completionTokens === undefined
          writtenBefore = now
          closed = false
          counts = noCounts()
        } else if (inputOf(recordOf(message?.['usage']) ?? {}) > 0) counts = noCounts()
      }
      id = next ?? id
      add(message?.['usage'], false)
    },
    /** What an event reports that may close a message. */
    close({ delta, usage }: Json): void {
      closed ||= wordOf(recordOf(delta)?.['stop_reason']) !== undefined
      add(usage, true)
    },
    usage: (): ReportedUsage | undefined => {
      if (!isReported && !earlier) return undefined
      const last = readUsage(counts)
      if (!earlier) return last
      const all = addedUsage(earlier, last)
      return lacksOutput || last.completionTokens === undefined ? { ...all, completionTokens: undefined } : all
    },
  }
}
