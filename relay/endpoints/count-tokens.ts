import { parseExactly } from '#core/exact-json.ts'
import { fitRequest } from '#relay/chat/fit/fit-request.ts'
import { openAiProfile } from '#relay/chat/fit/profile.ts'
import { isObject } from '#relay/chat/json.ts'
import { countPrompt } from '#relay/counting/estimate-usage.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { admitCall, sessionOf } from '#relay/request/admit.ts'
import type { Attempt, Call, CallBody, RelayServices } from '#relay/request/call.ts'
import { answerLimited, type Exchange } from '../limited-call.ts'
import { withEarlierTurns } from '#relay/routing/local-responses.ts'
import { placeOfCall } from '#relay/routing/stored-responses.ts'
import { readBody } from '#relay/request/read-body.ts'
import { createSelection } from '#relay/routing/select.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { NativeBody, NativeDialect, Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { withMostSentParts } from '#relay/attempt/native-only.ts'
import { upstreamChannelOf, providerCallOf } from '#relay/attempt/upstream-channel.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { sendWithToken } from '#relay/upstream-call/tokens.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { TransportError } from '#relay/transport/transport-error.ts'

type Style = {
  dialect: CallerDialect
  /** The counting call beside the chat call of an upstream that speaks the dialect. */
  countingUrl: (chatUrl: string) => string
  reply: (tokens: number) => unknown
  read: (json: unknown) => unknown
  /** The chat call whose prompt is counted, where it stands inside of the body. */
  within?: (body: Record<string, unknown>) => unknown
}

const field = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined

export const claudeCounting: Style = {
  dialect: claude,
  countingUrl: (url) => `${url}/count_tokens`,
  reply: (tokens) => ({ input_tokens: tokens }),
  read: (json) => field(json, 'input_tokens'),
}

export const geminiCounting: Style = {
  dialect: gemini,
  countingUrl: (url) => `${url.split(/:(?:streamG|g)enerateContent/, 1).join('')}:countTokens`,
  reply: (tokens) => ({ totalTokens: tokens }),
  read: (json) => field(json, 'totalTokens'),
  within: (body) => body['generateContentRequest'],
}

export const responsesCounting: Style = {
  dialect: openAiResponses,
  countingUrl: (url) => `${url}/input_tokens`,
  reply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  read: (json) => field(json, 'input_tokens'),
}

/**
 * How many tokens a prompt has: asked of an upstream of the same dialect or of one of Google's, counted here otherwise. Neither
 * charged nor logged.
 */
export const countTokens = (
  services: RelayServices,
  { style, model }: { style: Style; model: string | undefined },
  exchange: Exchange,
): Promise<void> =>
  answerLimited(services, exchange, {
    dialect: style.dialect,
    isFree: true,
    answer: async ({ incoming, caller }) => {
      const read = innerBody(await readBody(services, incoming), style)
      // What was said before counts, wherever it is kept.
      const { body } = style.dialect.keepsResponses
        ? await withEarlierTurns(services, { userId: caller.user.id, body: read, incoming })
        : { body: read }
      const request = style.dialect.parse({ ...style.dialect.countingDefaults, ...body.json }, { model })
      const admitted = admitCall(services, caller, request.model)
      const estimate = { promptTokens: 0, cacheWriteMarked: 0, cacheWrite1hMarked: 0 }
      const session = sessionOf({ ...incoming, body, caller })
      // Another's thread under the same key is nobody's to measure.
      const { dialect } = style
      const storedAt = await placeOfCall(services, { userId: caller.user.id, dialect, body: body.json })
      const core = { caller, body, request, session, storedAt, ...admitted, stream: false }
      const call: Call = { ...incoming, ...core, asJsonArray: false, estimate }
      const attempt = createSelection(services, call).next()
      const asked = await askUpstream(services, call, { style, attempt })
      const before = storedAt?.conversationTokens ?? 0
      const { count } = services.counter
      const sent = withMostSentParts(services, call, attempt)
      const tokens = asked ?? before + (await countPrompt(sent, attempt.upstreamModel, count))
      incoming.res.json(style.reply(tokens))
    },
  })

/** The upstream's own figure; undefined when it has none to give. */
async function askUpstream(
  services: RelayServices,
  call: Call,
  { style, attempt }: { style: Style; attempt: Attempt },
): Promise<number | undefined> {
  const plainCall = providerCallOf(services, call, { attempt, stream: false })
  const asked = askedFor(call, { style, plainCall, provider: providerFor(attempt.channel.type) })
  if (!asked) return undefined
  let read = style.read
  const build = (token: string | undefined): UpstreamRequest => {
    const providerCall = { ...plainCall, token }
    const { native, body } = asked
    const counting =
      native.countTokens?.(body, providerCall) ?? besideChat(native.request(body, providerCall), asked.style)
    read = counting.read
    return counting.request
  }
  const limits = timeoutsOf(attempt.channel.setting, 'unstreamed')
  const { signal } = call.callerAborted
  try {
    const { reply } = await sendWithToken(services, upstreamChannelOf(attempt), { build, limits, signal })
    if (reply.status !== 200) {
      reply.cancel()
      return undefined
    }
    const tokens = read(await reply.json(1024 * 1024))
    return typeof tokens === 'number' ? tokens : undefined
  } catch (cause) {
    // One that does not answer has no figure to give either.
    if (cause instanceof TransportError && !signal.aborted) return undefined
    throw attemptFailureAt(services, { place: attempt }, cause)
  }
}

type Asked = { native: NativeDialect; body: NativeBody; style: Style }

/** The caller's own body for an upstream of its dialect; a translation for one of Google's; nothing for others. */
function askedFor(
  call: Call,
  { style, plainCall, provider }: { style: Style; plainCall: ProviderCall; provider: Provider },
): Asked | undefined {
  const { native: name } = style.dialect
  const own = name && provider.native[name]
  if (own && own.accepts?.(call.body.json, plainCall) !== false) return { native: own, body: call.body, style }
  const google = provider.native.gemini
  if (!google || google.accepts?.({}, plainCall) === false) return undefined
  try {
    const profile = provider.chat.profile?.(plainCall) ?? openAiProfile
    const { body } = provider.chat.request(fitRequest(call.request, profile).request, plainCall)
    return { native: google, body: bodyOf(Object(body) as Record<string, unknown>), style: geminiCounting }
  } catch {
    // What it cannot be asked, it cannot count.
    return undefined
  }
}

const bodyOf = (json: Record<string, unknown>) => ({ json, bytes: Buffer.from(JSON.stringify(json)) })

function innerBody(body: CallBody, { within }: Style): CallBody {
  const inner = within?.(body.json)
  return isObject(inner) ? { ...bodyOf(inner), holding: body.holding } : body
}

const besideChat = (request: UpstreamRequest, style: Style) => ({
  request: { ...request, url: style.countingUrl(request.url), body: countingBody(request, style) },
  read: style.read,
})

/** What OpenAI's counting call knows of a responses call. */
const responsesFields = [
  'conversation',
  'input',
  'instructions',
  'model',
  'parallel_tool_calls',
  'previous_response_id',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
]

/** What Google's counting calls know of a chat call, in both spellings. */
const geminiFields = [
  'contents',
  'generationConfig',
  'generation_config',
  'systemInstruction',
  'system_instruction',
  'tools',
]

/** The counting call knows the prompt's fields only. */
function countingBody({ body }: UpstreamRequest, { dialect }: Style): string {
  const json: unknown =
    typeof body === 'string' || body instanceof Uint8Array ? parseExactly(Buffer.from(body).toString('utf8')) : body
  const fields = dialect.keepsResponses ? responsesFields : dialect === gemini ? geminiFields : null
  if (fields) {
    const known = Object.entries(Object(json) as object).filter(([name]) => fields.includes(name))
    return JSON.stringify(Object.fromEntries(known))
  }
  const {
    max_tokens: _limit,
    stream: _stream,
    temperature: _temperature,
    ...rest
  } = Object(json) as Record<string, unknown>
  return JSON.stringify(rest)
}
