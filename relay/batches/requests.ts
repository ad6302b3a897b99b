import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError } from '#core/errors.ts'
import type { ToolUse } from '#core/pricing/receipt.ts'
import { isObject } from '#relay/chat/json.ts'
import { lossNames } from '#relay/chat/losses.ts'
import { withoutMisleading } from '#relay/request/read-body.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import { promptTexts } from '#relay/counting/estimate-usage.ts'
import { unseenInput } from '#relay/counting/unseen-input.ts'
import { mediaTokens } from '#relay/counting/media-tokens.ts'
import { toolsOf } from '#relay/billing/hold-facts.ts'
import { claude } from '#relay/dialects/claude/index.ts'

type Json = Record<string, unknown>

/** One request of a batch: what is sent of it, and what it may come to. */
export type BatchRequest = {
  customId: string
  model: string
  params: Json
  promptTokens: number
  /** The upstream reads what it names and does not bring along. */
  readsUnseen: boolean
  cacheWriteMarked: number
  cacheWrite1hMarked: number
  maxTokens: number
  tools: ToolUse[]
}

const mostRequests = 100_000
const customIdForm = /^[a-zA-Z0-9_-]{1,64}$/
/** Whoever reads a long list lets others have their turn. */
const turnEvery = 200

const refusal = (index: number, detail: string): DomainError =>
  new DomainError('relay.batch_invalid', { detail: `requests.${index}.${detail}` })

/**
 * The requests of a batch, each in the dialect's own rules, with all texts that are to be screened, and the names of what was taken out.
 * @throws {DomainError} relay.batch_invalid, which names the request.
 */
export async function readBatch(json: Json): Promise<{ requests: BatchRequest[]; texts: string[]; dropped: string[] }> {
  const { requests: given } = json
  if (!Array.isArray(given) || given.length === 0)
    throw new DomainError('relay.batch_invalid', { detail: 'requests: at least one request is required' })
  if (given.length > mostRequests)
    throw new DomainError('relay.batch_invalid', { detail: `requests: at most ${mostRequests} requests` })
  const known = new Set<string>()
  const requests: BatchRequest[] = []
  const texts: string[] = []
  const dropped = new Set<string>()
  for (const [index, one] of given.entries()) {
    if (index % turnEvery === turnEvery - 1) await nextTurn()
    const { request, own, without } = readOne(index, one)
    for (const name of without) dropped.add(name)
    if (known.has(request.customId)) throw refusal(index, `custom_id: ${request.customId} is not unique`)
    known.add(request.customId)
    requests.push(request)
    for (const text of own) texts.push(text)
  }
  return { requests, texts, dropped: lossNames([...dropped]) }
}

function readOne(index: number, one: unknown): { request: BatchRequest; own: string[]; without: string[] } {
  if (!isObject(one)) throw refusal(index, 'custom_id: Field required')
  const { custom_id: customId, params: given } = one
  if (typeof customId !== 'string' || !customIdForm.test(customId))
    throw refusal(index, 'custom_id: String should match pattern ^[a-zA-Z0-9_-]{1,64}$')
  if (!isObject(given)) throw refusal(index, 'params: Field required')
  const { json: params, dropped: without } = withoutMisleading(given)
  if (params['stream'] === true) throw refusal(index, 'params.stream: streaming is not supported in batches')
  // Whose thread it is nobody could check when the batch is worked off.
  if ((params['thread'] ?? null) !== null) throw refusal(index, 'params.thread: threads are not supported in batches')
  const { max_tokens: maxTokens } = params
  if (typeof maxTokens !== 'number') throw refusal(index, 'params.max_tokens: Field required')
  const parsed = parse(index, params)
  const counted = cheapPromptTokens(parsed)
  const request = {
    customId,
    params,
    ...counted,
    model: parsed.model,
    promptTokens: counted.promptTokens + mediaTokens(parsed).beyond,
    readsUnseen: unseenInput(parsed) !== undefined,
    cacheWrite1hMarked: counted.cacheWrite1hMarked ?? 0,
    maxTokens: Math.max(0, maxTokens),
    tools: toolsOf(parsed, { model: parsed.model, sentAs: parsed.model }),
  }
  return { request, own: promptTexts(parsed), without }
}

function parse(index: number, params: Json) {
  try {
    return claude.parse(params, {})
  } catch (error) {
    if (error instanceof InvalidRequest || error instanceof DomainError)
      throw refusal(index, `params: ${error.message}`)
    throw error
  }
}
