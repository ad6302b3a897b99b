import {
  type Container,
  hasTools,
  isCount,
  isToolCount,
  type MeasuredUsage,
  normaliseUsage,
  type ReportedUsage,
  reportsOutput,
  type Usage,
} from '#core/usage.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { countDelivered, countPrompt, estimateUsage, imageTokensOf } from '#relay/counting/estimate-usage.ts'
import { afterRunning } from '#features/ledger/running-time.ts'
import type { Holding } from '#features/request-bodies/budget.ts'
import { inlineMedia, openFileMemory } from '#relay/attempt/inline-media.ts'
import { drawnWith } from '#relay/providers/shared/drawn-images.ts'
import { addedTools, gigabytesOf } from '#relay/providers/shared/held-objects.ts'
import { recordsOf, textOf } from '#relay/providers/shared/json.ts'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'

export type Answered = {
  usage: ReportedUsage | undefined
  delivered: () => Delivered
  /** Cut before its end: the figures of its beginning do not say how much came after them. */
  cut?: boolean
}

/** What an answer used. */
export type AnswerUsage = MeasuredUsage & {
  /** The upstream counted tokens, or tools that it ran, above zero: its answer is charged, however empty. */
  isReported: boolean
}

type Measured = Pick<AttemptContext, 'services' | 'call' | 'sent' | 'attempt' | 'searches'>

/**
 * The usage to charge: the upstream's own where it is believable, else counted here over the request as it was sent, with the
 * conversation that the upstream keeps and read beside it, as it last counted that.
 * `delivered` is only decoded when it has to be counted.
 */
export async function measureUsage(
  context: Measured,
  { usage: received = {}, delivered, cut = false }: Answered,
): Promise<AnswerUsage> {
  const { services, call, sent, attempt, searches } = context
  const before = call.storedAt?.conversationTokens ?? 0
  const { count } = services.counter
  const { upstreamModel } = attempt
  const { usage: normal, reported: hasTokens, corrected } = normaliseUsage(received, searchLimit(sent.body.json))
  const isReported = hasTokens || hasTools(normal)
  const usage = normal.containers || normal.drawing ? withAddedTools(normal, sent.body.json) : normal
  if (!isToolCount(received.webSearchCalls)) usage.webSearchCalls = searches
  const request = isCount(received.promptTokens) ? sent.request : await withImages(context)
  // Images that a tool drew are charged as such, and were no work of the model that answers.
  const written = (): Delivered => (usage.drawing ? { ...delivered(), images: 0 } : delivered())
  if (!hasTokens) {
    const counted = await estimateUsage({ request, delivered: written(), model: upstreamModel, count })
    const promptTokens = counted.promptTokens + before
    return { usage: { ...counted, promptTokens, ...toolsIn(usage) }, source: 'estimated', corrected, isReported }
  }
  let { promptTokens, completionTokens, imageOutputTokens } = usage
  if (!isCount(received.promptTokens)) promptTokens = before + (await countPrompt(request, upstreamModel, count))
  if (cut || !reportsOutput(usage)) {
    const answer = written()
    completionTokens = Math.max(completionTokens, await countDelivered(answer, upstreamModel, count))
    imageOutputTokens = Math.max(imageOutputTokens, imageTokensOf(answer))
  }
  const isCounted = promptTokens !== usage.promptTokens || completionTokens !== usage.completionTokens
  const measured = { ...usage, promptTokens, completionTokens, imageOutputTokens }
  return { usage: measured, source: isCounted ? 'estimated' : 'upstream', corrected, isReported }
}

/** How often the call lets its vendor search, where each of its tools for that says so. */
function searchLimit({ tools }: Record<string, unknown>): number | undefined {
  const limits = recordsOf(tools).flatMap(({ type, max_uses: most }) =>
    /^web_search_\d/.test(textOf(type) ?? '') ? [isCount(most) && most > 0 ? most : Number.POSITIVE_INFINITY] : [],
  )
  return limits.length > 0 ? limits.reduce((sum, limit) => sum + limit) : undefined
}

/**
 * A container has the memory, and images are of the model, that the tool of the call says. An answer repeats the tools that stand
 * beside the conversation, and not those that stand in it.
 */
function withAddedTools(usage: Usage, body: Readonly<Record<string, unknown>>): Usage {
  const added = addedTools(body)
  const withMemory = (container: Container): Container => {
    const given = added.filter(({ type }) => type === container.tool).map(gigabytesOf)
    return { ...container, gigabytes: given.reduce((most, each) => Math.max(most, each), container.gigabytes) }
  }
  const { containers, drawing } = usage
  const drawer = added.findLast(({ type }) => type === 'image_generation')
  return {
    ...usage,
    ...(containers ? { containers: containers.map(withMemory) } : {}),
    ...(drawing && drawer ? { drawing: drawnWith(drawer, drawing) } : {}),
  }
}

/** What the vendor's tools did, which nobody has to estimate. */
const toolsIn = ({ webSearchCalls, fileSearchCalls, containers, drawing }: Usage) => ({
  webSearchCalls,
  fileSearchCalls,
  ...(containers === undefined ? {} : { containers }),
  ...(drawing === undefined ? {} : { drawing }),
})

const longestImageWaitMs = 5000

/** An image costs by its size, so it has to be at hand to be counted; one that cannot be had costs the usual. */
async function withImages({ services, call, sent }: Measured): Promise<ChatRequest> {
  // The attempt, and what it held, may be over.
  let memory: Holding | undefined
  const late = new AbortController()
  const stop = afterRunning(longestImageWaitMs, () => late.abort())
  try {
    return await inlineMedia(sent.request, {
      fetchMedia: services.media,
      memory: () => (memory = openFileMemory(services, call)),
      keepsAddress: (part) => part.type !== 'image' || part.detail === 'low',
      signal: late.signal,
    })
  } catch {
    return sent.request
  } finally {
    stop()
    memory?.release()
  }
}

/** The caller went before anything came. */
export const nothingDelivered = { usage: undefined, delivered: (): Delivered => ({ text: '', toolCalls: 0 }) }
