import { parseJson } from '#core/exact-json.ts'
import { type ChannelOperation, mayOffer } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { providerCallOf } from '#relay/attempt/upstream-channel.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { isTimedOut } from '#relay/request/caller-timeout.ts'
import { AttemptFailed, failureOfDomainError, unsupportedHere } from '#relay/attempt/failure.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { withToken } from '#relay/attempt/attempt-token.ts'
import { bodyAsReceived } from '#relay/attempt/build-request.ts'
import { passesThrough } from '#relay/upstream-call/channel.ts'
import { withParamOverride } from '#relay/upstream-call/param-override.ts'
import { reserve } from '#relay/billing/reserve.ts'
import { isUnbooked } from '#relay/billing/settle.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { recordOf } from '#relay/providers/shared/json.ts'
import { atMostImages } from '#relay/providers/shared/plain-answers.ts'
import type { PlainOperation, PlainRequest, UpstreamRequest } from '#relay/providers/types.ts'
import { TransportError, type UpstreamReply } from '#relay/transport/send.ts'
import { textsOfTokens } from '#relay/counting/token-texts.ts'
import { asSent, promptTokensOf } from './as-sent.ts'
import { inBatches, joined, joinedUsage } from './batches.ts'
import { type PlainEnd, plainEstimate } from './bill.ts'
import { sendComplete } from './complete-answer.ts'
import { inWantedEncoding } from './embedding-encoding.ts'
import { answerBytes } from './answer-bytes.ts'
import { checkAnswers, drawnIn, isEmptyAnswer } from './empty-answer.ts'
import type { PlainCall } from './types.ts'
import { drawsImages, lacksImages, wantsBytes, withImages } from './images.ts'
import { billedParts } from './parse.ts'
import { malformed, sendBuilt, type Try, untilDone } from './send.ts'
import { settle, usedBy } from './settle.ts'
import { withShownErrors } from './shown-failure.ts'
import { isText } from './unlike-answer.ts'
import { lossNames } from '#relay/chat/losses.ts'
import { withTextAt } from '#relay/chat/text-at.ts'

const largestAnswer = 128 * 1024 * 1024

/** What the list of channel types calls each operation. */
const capabilityOf: Readonly<Record<PlainOperation, ChannelOperation>> = {
  embeddings: 'embeddings',
  moderations: 'moderations',
  images: 'images',
  'image-edits': 'images',
  speech: 'audioSpeech',
  transcriptions: 'audioTranscription',
  translations: 'audioTranscription',
  rerank: 'rerank',
}

/**
 * One attempt of an operation on one channel, to the settled answer.
 * @throws {AttemptFailed} when nothing has reached the caller and another channel may be tried.
 */
export async function forwardPlain(services: RelayServices, call: PlainCall, plan: AttemptPlan): Promise<void> {
  const { attempt } = plan
  const provider = providerFor(attempt.channel.type)
  const { operation } = call.asked
  const offered = mayOffer(attempt.channel.type, capabilityOf[operation])
  const translation = offered ? provider.plain?.[operation] : undefined
  if (!translation) throw unsupportedHere(new DomainError('relay.operation_unsupported'))
  const providerCall = providerCallOf(services, call, { attempt, stream: call.stream })
  const current: Try = {
    services,
    call,
    plan,
    attempt,
    provider,
    providerCall,
    translation,
    sentAt: performance.now(),
    losses: call.dropped ?? [],
    asked: false,
    answered: false,
  }
  try {
    checkLength(current)
    current.providerCall = await withToken(services, attempt, providerCall)
    await sendAndAnswer(current)
  } catch (error) {
    if (isUnbooked(error)) throw error
    // Before anything was asked upstream a caller who leaves owes nothing.
    if (call.callerAborted.signal.aborted && call.upstreamAbort.signal.aborted && current.asked) {
      if (!current.answered && isTimedOut(call, current.sentAt))
        throw new DomainError('relay.timeout', {}, { cause: error })
      await settle(current, { used: await usedBy(current, {}), firstByteMs: null, end: 'hung-up' })
      return
    }
    if (call.upstreamAbort.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    throw attemptFailureAt(services, { place: attempt, token: current.providerCall.token }, error)
  }
}

/** A channel may take short prompts only. */
function checkLength({ services, call, attempt: { channel } }: Try): void {
  const limit = channel.maxInputTokens
  if (limit <= 0) return
  const tokens = promptTokensOf(asSent(services, call, channel))
  if (tokens <= limit) return
  throw unsupportedHere(new DomainError('relay.prompt_too_long', { tokens, limit }))
}

/** The caller's own form where the upstream speaks it, OpenAI's in the upstream's words elsewhere. */
function build(current: Try, asked: PlainRequest): UpstreamRequest {
  const { call, providerCall } = current
  const { foreign, filledIn } = call.asked
  const native = nativeOf(current)
  if (foreign && native) return native(foreign.own, providerCall)
  try {
    if (foreign?.untranslatable !== undefined)
      throw new DomainError('unsupported.field', { field: foreign.untranslatable })
    const supportedFields = foreign && current.translation.supports?.[foreign.own.dialect]?.(foreign.own)
    const plainRequest = supportedFields ? { ...asked, json: { ...asked.json, ...supportedFields.json } } : asked
    const built = current.translation.request(plainRequest, providerCall)
    const lost = foreign?.losses.filter((name) => !supportedFields?.names.includes(name)) ?? []
    const left = passesBody(current)
      ? []
      : [...lost, ...(built.losses ?? []).filter((name) => !filledIn.includes(name))]
    current.losses = lossNames([...(call.dropped ?? []), ...left])
    current.mostImages = built.mostImages
    return built
  } catch (error) {
    throw unsupportedHere(error)
  }
}

const nativeOf = ({ call, translation, providerCall }: Try) =>
  translation.takesNative?.(providerCall) === false
    ? undefined
    : call.asked.foreign && translation.native?.[call.asked.foreign.own.dialect]

/** The caller's own body is what is sent: whatever is made of a form, or of another form than OpenAI's, is no body that came. */
const passesBody = ({ services, call: { asked }, attempt: { channel } }: Try): boolean =>
  asked.form === null && !asked.foreign && passesThrough(channel.setting, services)

/** With the channel's override, or with the caller's own body where bodies pass through. */
function asChannelWants(current: Try, built: UpstreamRequest): UpstreamRequest {
  const { services, call, attempt, provider, providerCall } = current
  const { channel, upstreamModel } = attempt
  if (passesBody(current)) return { ...built, body: bodyAsReceived(call.body, upstreamModel) }
  // Forms have no override.
  if (call.asked.form !== null || passesThrough(channel.setting, services)) return built
  return withParamOverride(built, { provider, call: providerCall, override: channel.paramOverride })
}

/** The requests that the caller's one stands for. */
async function builtRequests(current: Try): Promise<UpstreamRequest[]> {
  const { call, translation } = current
  const asked = {
    ...call.asked,
    ...(translation.readsImages === true ? { images: await call.asked.readImages?.() } : {}),
    ...(translation.readsFile === true ? { file: await call.asked.readFile?.() } : {}),
  }
  const { mostInputs } = translation
  const most = typeof mostInputs === 'function' ? mostInputs(current.providerCall, asked) : mostInputs
  const isOneRequest = asked.operation !== 'embeddings' || nativeOf(current) !== undefined || passesBody(current)
  const requestsFor = (given: PlainRequest): UpstreamRequest[] =>
    (isOneRequest ? [given] : inBatches(given, most)).map((batch) => asChannelWants(current, build(current, batch)))
  try {
    return requestsFor(asked)
  } catch (error) {
    if (isOneRequest || !refusesTokens(error)) throw error
    const input = await textsOfTokens(asked.json['input'], call.asked.model)
    if (input === undefined) throw error
    const json = { ...asked.json, input }
    await sendTexts(current, json)
    return requestsFor({ ...asked, json })
  }
}

/** A token can stand for a long text, of which another encoder makes many: the texts are what is set aside for and charged. */
async function sendTexts(current: Try, json: Record<string, unknown>): Promise<void> {
  const { services, call, plan, attempt } = current
  const { asked } = call
  current.call = { ...call, asked: { ...asked, ...billedParts(asked.operation, json) } }
  checkLength(current)
  const amount = plainEstimate(asSent(services, current.call, attempt.channel), plan)
  await reserve(services, current.call, { amount })
}

const refusesTokens = (error: unknown): boolean =>
  error instanceof AttemptFailed && error.cause instanceof DomainError && error.cause.code === 'unsupported.token_input'

async function sendAndAnswer(current: Try): Promise<void> {
  const [first, ...more] = await builtRequests(current)
  if (!first) return
  const reply = await sendBuilt(current, first)
  const contentType = String(reply.headers['content-type'] ?? '')
  const isBytes = contentType.includes('text/event-stream') || streamedOperations.has(current.call.asked.operation)
  if (contentType.includes('json')) return answerJson(current, reply, more)
  const { fromBytes } = current.translation
  if (isBytes) return answerBytes(current, reply, contentType)
  if (!fromBytes) return answerJson(current, reply, more)
  const bytes = await reply.bytes(largestAnswer)
  if (isText(bytes)) throw malformed()
  return answerMade(current, fromBytes(bytes, current.call.asked))
}

/** Bytes that callers read as JSON. */
async function answerMade(current: Try, answer: unknown): Promise<void> {
  const { asked, startedAt } = current.call
  const used = await usedBy(current, {})
  await settle(current, { used, firstByteMs: performance.now() - startedAt, end: 'complete' })
  const body = JSON.stringify(asked.foreign ? asked.foreign.encode(answer) : answer)
  sendComplete(current, { answer, body, usage: used.usage })
}

/** Those whose answers may be audio or plain text; all others are JSON, whatever they are announced as. */
const streamedOperations: ReadonlySet<string> = new Set(['speech', 'transcriptions', 'translations'])

async function answerJson(current: Try, reply: UpstreamReply, more: UpstreamRequest[]): Promise<void> {
  const { call, translation } = current
  const text = await reply.text(largestAnswer)
  const json = await untilDone(current, readJson(text), async (later) => readJson(await later.text(largestAnswer)))
  noteMostImages(current, json)
  const answers = [json]
  for (const request of more) answers.push(readJson(await (await sendBuilt(current, request)).text(largestAnswer)))
  const usage = joinedUsage(answers.map((answer) => translation.usage(answer)))
  const audio = translation.audio?.(json, call.asked)
  // Without a sound in it the answer is none, and is not charged.
  if (audio?.bytes.length === 0) throw malformed()
  const translated = audio ? undefined : await translate(current, answers)
  const drawn = drawsImages(call.asked) ? drawnIn(translated, json) : undefined
  const used = await usedBy(current, { usage, seconds: secondsOf(json), drawn })
  if (!audio && used.source === 'estimated' && isEmptyAnswer(call.asked.operation, translated)) throw malformed()
  const shaped = audio ? undefined : shape(current, translated, used)
  // What cannot be counted is not charged.
  const isAsReceived = shaped === json
  const body = audio?.bytes ?? named(call, shaped, isAsReceived && !translation.next ? text : JSON.stringify(shaped))
  await settle(current, { used, drawn, firstByteMs: performance.now() - call.startedAt, end: 'complete' })
  sendComplete(current, { answer: shaped, body, audio, usage: used.usage, isAsReceived })
}

function noteMostImages(current: Try, json: unknown): void {
  const most = current.translation.mostImages?.(json)
  if (most === undefined) return
  const { mostImages, losses } = atMostImages(current.call.asked.json['n'], most)
  current.mostImages = mostImages
  current.losses = lossNames([...current.losses, ...losses])
}

/** The answers in OpenAI's form, as one. */
async function translate(current: Try, answers: readonly unknown[]): Promise<unknown> {
  const { asked, upstreamAbort } = current.call
  const [json] = answers
  if (nativeOf(current)) {
    checkAnswers(asked.operation, [{ json, given: json }])
    return withShownErrors(current, json)
  }
  const { response } = current.translation
  const responses = response ? answers.map((answer) => response(answer, asked)) : answers
  checkAnswers(
    asked.operation,
    answers.map((answer, index) => ({ json: answer, given: responses[index] })),
  )
  const translated = withShownErrors(current, joined(responses))
  if (!drawsImages(asked) || !wantsBytes(asked)) return translated
  const { signal } = upstreamAbort
  const given = await withImages(translated, (url) =>
    current.services.media(url, { signal }).then(({ data }) => data, whereUnfetched),
  )
  if (!lacksImages(given)) return given
  // That form has no place for an address. What was drawn is not drawn again by another upstream for all that.
  if (asked.foreign)
    throw new AttemptFailed(failureOfDomainError(new DomainError('relay.reply_unreadable')), { local: true })
  current.losses = lossNames([...current.losses, 'response_format'])
  return given
}

/** An image that cannot be fetched is handed out by its address. */
function whereUnfetched(error: unknown): null {
  if (error instanceof TransportError && error.kind !== 'aborted') return null
  throw error
}

/** With the model's name as its caller wrote it, where the answer names one. */
function named({ model }: PlainCall, answer: unknown, text: string): string {
  const { model: answered } = Object(answer) as { model?: unknown }
  return typeof answered !== 'string' || answered === model ? text : withTextAt(text, ['model'], model)
}

/** The answer in the caller's form. */
function shape(current: Try, translated: unknown, { usage }: PlainEnd['used']): unknown {
  const { asked } = current.call
  if (nativeOf(current)) return translated
  const encoded = asked.operation === 'embeddings' ? inWantedEncoding(translated, asked.json) : translated
  const counted = showingUsage.has(asked.operation) ? withUsage(encoded, usage.promptTokens) : encoded
  return asked.foreign ? asked.foreign.encode(counted) : counted
}

/** Those whose answers have usage whether or not the upstream reports any. */
const showingUsage: ReadonlySet<PlainOperation> = new Set(['embeddings', 'rerank'])

/** Programs read it unasked, so an upstream that reports none, or a total alone, gets the figure that was charged. */
function withUsage(answer: unknown, promptTokens: number): unknown {
  const json = recordOf(answer)
  if (!json || !('data' in json || 'results' in json)) return answer
  const usage = recordOf(json['usage'])
  if (typeof usage?.['prompt_tokens'] === 'number') return answer
  return { ...json, usage: { total_tokens: promptTokens, ...usage, prompt_tokens: promptTokens } }
}

function readJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

/** The length of a recording, where the answer has it. */
function secondsOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { duration, usage } = json as { duration?: unknown; usage?: { seconds?: unknown } | null }
  const value = typeof duration === 'number' ? duration : usage?.seconds
  return typeof value === 'number' ? value : undefined
}
