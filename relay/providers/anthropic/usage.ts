import type { ReportedUsage } from '#core/usage.ts'
import { countOf, type Json, recordOf, recordsOf, sumOf, wordOf } from '../shared/json.ts'

type Tokens = Pick<
  ReportedUsage,
  'promptTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens' | 'completionTokens'
>

/** The vendor counts what came from and went into its cache beside the input; the hub counts all input together. */
function readTokens(usage: Json): Tokens {
  const cachedTokens = countOf(usage['cache_read_input_tokens'])
  const created = recordOf(usage['cache_creation'])
  const shortLived = countOf(created?.['ephemeral_5m_input_tokens'])
  const longLived = countOf(created?.['ephemeral_1h_input_tokens'])
  const cacheWriteTokens = countOf(usage['cache_creation_input_tokens']) ?? sumOf(shortLived, longLived)
  return {
    promptTokens: sumOf(countOf(usage['input_tokens']), cachedTokens, cacheWriteTokens),
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: longLived,
    completionTokens: countOf(usage['output_tokens']),
  }
}

const sumOfCounts = (...counts: (number | null | undefined)[]): number | undefined =>
  sumOf(...counts.map((count) => count ?? undefined))

/** Where the vendor shortened the conversation itself on the way, that took a request of its own, counted apart from the rest. */
export function readUsage(usage: Json): ReportedUsage {
  const compactions = recordsOf(usage['iterations']).filter((one) => one['type'] === 'compaction')
  const all = [usage, ...compactions].map(readTokens)
  const total = (name: keyof Tokens): number | undefined => sumOfCounts(...all.map((tokens) => tokens[name]))
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

const figures = [
  'promptTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'webSearchCalls',
] as const

/** Of several messages. An output that one of them does not report is missing in all. */
function addedUsage(messages: readonly ReportedUsage[]): ReportedUsage {
  const added: ReportedUsage = {}
  for (const name of figures) added[name] = sumOfCounts(...messages.map((usage) => usage[name]))
  const outputs = messages.map(({ completionTokens }) => completionTokens)
  if (outputs.every((count) => count !== undefined)) added.completionTokens = sumOfCounts(...outputs)
  return added
}

/**
 * Usage over a stream: counts only grow, and a later event that lacks one, or repeats it as zero, does not take it back.
 * Until the closing event reports the output, its first tiny count is no report of it.
 */
export function createUsageCounter() {
  /** Of the messages before the last: a host that begins another in the same stream has had both written. */
  const earlier: ReportedUsage[] = []
  let id: string | undefined
  let counts: Json = {}

  const add = (value: unknown, closing: boolean): void => {
    const reported = recordOf(value) ?? {}
    if (splitsInput(counts, reported)) counts = { ...counts, input_tokens: reported['input_tokens'] }
    for (const [name, later] of Object.entries(reported)) {
      const known = counts[name]
      if (later === null || later === undefined || (name === 'output_tokens' && !closing)) continue
      const grows = typeof known !== 'number' || typeof later !== 'number' || later > known
      if (grows) counts = { ...counts, [name]: later }
    }
  }
  return {
    /** A message begins, or is announced once more. `hasSpoken`: whether something was written before. */
    begin(message: Json | undefined, hasSpoken: () => boolean): void {
      const next = wordOf(message?.['id'])
      if (id !== undefined && next !== undefined && next !== id) {
        const usage = readUsage(counts)
        earlier.push({ ...usage, completionTokens: usage.completionTokens ?? (hasSpoken() ? undefined : 0) })
        counts = {}
      }
      id = next ?? id
      add(message?.['usage'], false)
    },
    /** What the closing event of a message reports. */
    close: (value: unknown): void => add(value, true),
    usage: (): ReportedUsage | undefined => {
      if (earlier.length > 0) return addedUsage([...earlier, readUsage(counts)])
      return Object.keys(counts).length === 0 ? undefined : readUsage(counts)
    },
  }
}
