import { overriddenInput, type OutputInput, textsOfOverride } from '#core/param-override.ts'
import { cheapTextTokens, type CheapPromptCount } from '#relay/counting/cheap-count.ts'
import { addedPromptOf } from '#relay/attempt/channel-body.ts'
import { estimateOf, withMostSentParts } from '#relay/attempt/native-only.ts'
import { marksPrompts } from '#relay/attempt/upstream-channel.ts'
import type { ToolUse } from '#core/pricing/receipt.ts'
import { imagePricesOf, nameOfPrice } from '#core/pricing/price-of.ts'
import { type ImagePrices, toolUses } from '#core/pricing/tools.ts'
import { type Container, type Drawing, emptyUsage } from '#core/usage.ts'
import { asksForSearch } from '#relay/chat/hosted/uncounted-search.ts'
import { isMultiTurn } from '#relay/chat/multi-turn.ts'
import type { ChatRequest, Tool } from '#relay/chat/request.ts'
import { mediaTokens } from '#relay/counting/media-tokens.ts'
import { isObject } from '#relay/chat/json.ts'
import type { Attempt, Call, RelayServices } from '#relay/request/call.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { payerOf } from './answer-lengths.ts'
import type { HoldFacts } from './hold-plan.ts'
import { mostReadAt } from './most-read.ts'
import type { AnswerTerms } from '#core/pricing/estimate.ts'
import { isPricedAsClaude, isUnstreamed } from '#relay/providers/registry.ts'
import { gigabytesOf } from '#relay/providers/shared/held-objects.ts'
import type { CallPrice } from './price-call.ts'

/** An answer of so many tokens is worth having; less is, where answers of the model usually are shorter. */
const leastAnswer = 256
const leastUsual = 16
/** Reasoning with a budget needs room beside the answer. */
const leastThoughtful = 2048

/** What answers come to without a limit; models that think unseen go much further. */
const mostWithoutLimit = 32_768
const mostWithReasoning = 131_072
/** No model refuses so small a limit. */
const safeLimit = 4096

/** These models think without telling, so that what is delivered does not tell what is to be paid. */
const thinksUnseen = (model: string, { reasoning }: ChatRequest): boolean =>
  /(^|\/)(o\d|gpt-[5-9])/.test(model) && !/-chat/.test(model) && reasoning?.effort !== 'none'

export function holdFactsOf(
  services: RelayServices,
  call: Call,
  { terms, attempt }: { terms: CallPrice; attempt: Attempt },
): HoldFacts {
  const { request } = call
  const { upstreamModel, channel } = attempt
  const isClaude = call.dialect.pricedAsClaude || isPricedAsClaude(channel.type, upstreamModel)
  const thinks = thinksUnseen(upstreamModel, request)
  const names = { model: nameOfPrice(terms, upstreamModel), sentAs: upstreamModel }
  const tools = toolsOf(request, names, imagePricesOf(services.options))
  const sent = sentEstimate(services, call, attempt)
  const seen = services.holds.lengths.expect(payerOf(call), upstreamModel)
  const limit = sent.maxTokens ?? 0
  const expected = seen.tokens ?? Math.max(1, services.options.get('PreConsumedQuota'))
  const isThoughtful = (request.reasoning?.budgetTokens ?? 0) > 0
  // An image comes to more than a thousand tokens, and with fewer there is none.
  const draws = terms.price.kind === 'ratio' && terms.price.imageOutputRatio !== undefined
  const useful = isThoughtful || draws ? leastThoughtful : Math.min(leastAnswer, Math.max(leastUsual, expected))
  const { audio, beyond } = mediaTokens(request)
  // What the gateway marks itself may all be written to the cache, at its price.
  const marked = marksItself(call, attempt) ? sent.promptTokens : sent.cacheWriteMarked
  // The upstream counted these itself: no ratio of ours applies to them.
  const before = call.storedAt?.conversationTokens ?? 0
  // It stands in front of every mark.
  const upTo = (tokens: number): number => (tokens > 0 ? Math.ceil(tokens * seen.promptRatio) + before : 0)
  const spoken = request.modalities?.includes('audio') === true
  const answerTerms: AnswerTerms = {
    ...terms,
    promptTokens: Math.ceil(sent.promptTokens * seen.promptRatio) + beyond + before,
    cacheWriteMarked: upTo(marked),
    cacheWrite1hMarked: upTo(sent.cacheWrite1hMarked),
    audioTokens: audio,
    spoken,
    formula: spoken || audio > 0 ? 'audio' : isClaude ? 'claude' : 'text',
    tools,
  }
  return {
    terms: answerTerms,
    unseen: call.unseen && withUnseen(answerTerms, upstreamModel),
    limit,
    choices: Math.max(1, sent.choiceCount ?? 1),
    expected,
    grows: request.stream && !isUnstreamed(attempt, request) && !thinks && !seen.hides,
    mostWithoutLimit: Math.max(thinks || seen.hides ? mostWithReasoning : mostWithoutLimit, seen.most),
    largestNewLimit: Math.max(safeLimit, seen.most),
    least: limit > 0 ? Math.min(limit, useful) : useful,
  }
}

/** The prompt as long as the model can read at all. */
const withUnseen = (terms: AnswerTerms, model: string): AnswerTerms => ({
  ...terms,
  promptTokens: Math.max(terms.promptTokens, mostReadAt(terms, model)),
})

const marksItself = (call: Call, { channel, upstreamModel }: Attempt): boolean =>
  !call.dialect.pricedAsClaude &&
  isPricedAsClaude(channel.type, upstreamModel) &&
  isMultiTurn(call.request) &&
  marksPrompts(call, channel)

const usualSearches = 3

/** The vendor's tools that a call may use, as often as the caller allows or as is usual. */
export function toolsOf(
  { tools, extra }: ChatRequest,
  names: { model: string; sentAs: string },
  imagePrices?: ImagePrices,
): ToolUse[] {
  let webSearchCalls = asksForSearch(extra.fields) ? 1 : 0
  let fileSearchCalls = 0
  const containers: Container[] = []
  let drawing: Drawing | undefined
  for (const tool of tools) {
    if (tool.type === 'web-search') webSearchCalls += Math.min(tool.maxUses ?? usualSearches, 10)
    const kind = kindOf(tool)
    if (/^((openrouter:)?web_search|google_?search)/i.test(kind)) webSearchCalls += usualSearches
    // Moonshot's `$web_search`.
    if (kind === 'builtin_function') webSearchCalls += 1
    if (kind.startsWith('file_search')) fileSearchCalls += usualSearches
    if (/^(code_interpreter|shell)/.test(kind)) containers.push({ id: '', gigabytes: gigabytesOf(valueOf(tool)) })
    if (kind === 'image_generation') drawing = drawingOf(tool)
  }
  const counts = { webSearchCalls, fileSearchCalls, containers, ...(drawing ? { drawing } : {}) }
  return toolUses({ ...names, usage: { ...emptyUsage, ...counts }, imagePrices })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function drawingOf(tool: Tool): Drawing {
  const { model, quality, size } = valueOf(tool)
  return { model: textOf(model), images: [{ quality: textOf(quality), size: textOf(size) }] }
}

const valueOf = (tool: Tool): Record<string, unknown> =>
  tool.type === 'vendor' && isObject(tool.value) ? tool.value : {}

/** Gemini's tools are named by their one field. */
function kindOf(tool: Tool): string {
  const value = valueOf(tool)
  return typeof value['type'] === 'string' ? value['type'] : (Object.keys(value)[0] ?? '')
}

/** The prompt and the output to reckon with for the body that this channel sends, which may not be the caller's. */
function sentEstimate(services: RelayServices, call: Call, attempt: Attempt): CheapPromptCount & OutputInput {
  const { channel } = attempt
  const { maxTokens, choiceCount, nativeOnly } = call.request
  const count = nativeOnly ? estimateOf(call, withMostSentParts(services, call, attempt)) : call.estimate
  const own = { ...count, maxTokens, choiceCount }
  if (passesThrough(channel.setting, services)) return own
  const added = [addedPromptOf(services, call, channel), ...textsOfOverride(channel.paramOverride ?? {})]
  const promptTokens = own.promptTokens + added.reduce((sum, text) => sum + cheapTextTokens(text), 0)
  if (channel.paramOverride === null) return { ...own, promptTokens }
  return { ...own, promptTokens, ...overriddenInput(call.body.json, channel.paramOverride, own) }
}
