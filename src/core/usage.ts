/**
 * What a call consumed, in one shape from provider to bill. Counts are whole tokens from 0 to 10^9.
 *
 * `promptTokens` is the whole input, cache reads and writes, audio and images included; `completionTokens` is the whole
 * output, reasoning and audio included. The parts never exceed their total (see `normaliseUsage`); cached tokens may at the
 * same time be audio or image tokens.
 */
export type Usage = {
  promptTokens: number
  /** Read from the upstream's prompt cache; part of `promptTokens`. */
  cachedTokens: number
  /** Written to the upstream's prompt cache, both lifetimes; part of `promptTokens`. */
  cacheWriteTokens: number
  /** The part of `cacheWriteTokens` that is kept for longer than is usual: Claude's for one hour, OpenAI's for twelve. */
  cacheWrite1hTokens: number
  audioInputTokens: number
  imageInputTokens: number
  completionTokens: number
  /** Part of `completionTokens`. */
  reasoningTokens: number
  /** Part of `completionTokens`. */
  audioOutputTokens: number
  /** Part of `completionTokens`. */
  imageOutputTokens: number
  webSearchCalls: number
  fileSearchCalls: number
  /** Containers that the vendor ran code or a shell in. */
  containers?: readonly Container[]
  /** What a tool of the vendor drew, by another model than the one that answers. */
  drawing?: Drawing
}

/** Its price goes by the memory that it was made with, by the `tool` that ran in it; `id` is `""` where it is not known. */
export type Container = { id: string; gigabytes: number; tool?: string }

/** `""` where it is not said. */
export type Drawing = {
  /** The model that draws. */
  model: string
  images: readonly { quality: string; size: string }[]
  /** What that took in all, beside the answer's own tokens. */
  tokens?: { input: number; imageInput: number; output: number }
}

/** Usage as an upstream reports it: a missing or null field means "not reported". */
export type ReportedUsage = {
  [Field in Exclude<keyof Usage, 'containers' | 'drawing'>]?: number | null | undefined
} & {
  containers?: readonly Container[] | undefined
  drawing?: Drawing | undefined
}

/** Where the counts come from and whether a figure had to be corrected. */
export type MeasuredUsage = {
  usage: Usage
  /** `none`: the upstream reported nothing and nothing was counted. */
  source: 'upstream' | 'estimated' | 'none'
  /** An impossible figure was dropped or a part cut to its total. */
  corrected: boolean
}

export const emptyUsage: Readonly<Usage> = Object.freeze({
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  audioInputTokens: 0,
  imageInputTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
  webSearchCalls: 0,
  fileSearchCalls: 0,
})

const largestCount = 1e9

/** More than any answer runs: beyond it a count of tools is no figure. */
const mostToolCalls = 1000

/** A number of tokens that can be believed. */
export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= largestCount

/** A number of calls of a vendor's tool that can be believed. */
export const isToolCount = (value: unknown): value is number => isCount(value) && value <= mostToolCalls

/**
 * Makes a reported usage safe to compute with: a figure that is not a whole number from 0 to 10^9 counts as not reported,
 * so does a count of tools above 1000, and a part is cut to its total. `mostSearches`: how many the call allowed.
 */
export function normaliseUsage(
  reported: ReportedUsage,
  mostSearches = mostToolCalls,
): { usage: Usage; reported: boolean; corrected: boolean } {
  let corrected = false
  const read = (value: unknown, isFigure = isCount): number | undefined => {
    if (value === undefined || value === null) return undefined
    if (isFigure(value)) return value
    corrected = true
    return undefined
  }
  const cut = (value: number | undefined, total: number): number => {
    if (value === undefined) return 0
    if (value <= total) return value
    corrected = true
    return total
  }
  const prompt = read(reported.promptTokens)
  const completion = read(reported.completionTokens)
  const promptTokens = prompt ?? 0
  const completionTokens = completion ?? 0
  const cachedTokens = cut(read(reported.cachedTokens), promptTokens)
  const cacheWriteTokens = cut(read(reported.cacheWriteTokens), promptTokens - cachedTokens)
  const audioInputTokens = cut(read(reported.audioInputTokens), promptTokens)
  const audioOutputTokens = cut(read(reported.audioOutputTokens), completionTokens)
  const usage: Usage = {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: cut(read(reported.cacheWrite1hTokens), cacheWriteTokens),
    audioInputTokens,
    imageInputTokens: cut(read(reported.imageInputTokens), promptTokens - audioInputTokens),
    completionTokens,
    reasoningTokens: cut(read(reported.reasoningTokens), completionTokens),
    audioOutputTokens,
    imageOutputTokens: cut(read(reported.imageOutputTokens), completionTokens - audioOutputTokens),
    webSearchCalls: cut(read(reported.webSearchCalls, isToolCount), mostSearches),
    fileSearchCalls: read(reported.fileSearchCalls, isToolCount) ?? 0,
  }
  const listed = <Item>(items: readonly Item[]): readonly Item[] => items.slice(0, cut(items.length, mostToolCalls))
  const { containers = [], drawing } = reported
  if (containers.length > 0) usage.containers = listed(containers)
  if (drawing && drawing.images.length > 0) usage.drawing = { ...drawing, images: listed(drawing.images) }
  return { usage, reported: promptTokens + completionTokens > 0, corrected }
}

/** Zero is no count of an answer that says something; where nothing was delivered it stays zero. */
export const reportsOutput = ({ completionTokens }: Usage): boolean => completionTokens > 0

/** Whether the vendor ran tools that are charged by themselves. */
export const hasTools = ({ webSearchCalls, fileSearchCalls, containers = [], drawing }: ReportedUsage): boolean =>
  Number(webSearchCalls) > 0 || Number(fileSearchCalls) > 0 || containers.length > 0 || drawing !== undefined

export const totalTokens = (usage: Usage): number => usage.promptTokens + usage.completionTokens
