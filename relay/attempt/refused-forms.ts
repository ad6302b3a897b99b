import { hash } from 'node:crypto'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { untranslatable } from '#relay/chat/losses.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { refusesProofs } from '#relay/chat/seals/proof-refusals.ts'
import type { AttemptProofs } from '#relay/chat/seals/refused-proofs.ts'
import { nativeDialectOf, providerFor } from '#relay/providers/registry.ts'
import { type Json, recordsOf } from '#relay/providers/shared/json.ts'
import type { NativeDialect, Provider } from '#relay/providers/types.ts'
import type { Attempt, Call } from '#relay/request/call.ts'
import { type KnownRefusals, type RefusedForms, rememberRefusal } from '#relay/routing/known-refusals.ts'
import { AttemptFailed } from './failure.ts'
import { upstreamChannelOf } from './upstream-channel.ts'

/** How an upstream is asked where it does not take a call as it would be sent. */
export type AskedForm = {
  /** The upstream has no path for the caller's own form, or refuses tools or fields of it, though others of its kind do not. */
  translates?: boolean
  /** The upstream shows no summaries of reasoning to this account. */
  withoutSummary?: boolean
  /** The model cannot think, and the upstream refuses to be asked to. */
  withoutThinking?: boolean
  /** The upstream does not take the proofs of reasoning that the call brings along. */
  withoutProofs?: boolean
}

/** Noted while an attempt is made: the form it went out in, if that was the caller's own. */
export type Went = { native: NativeDialect | null }

type Refused = 'path' | 'form' | 'summary' | 'thinking' | 'proofs'

export const instead = {
  path: { translates: true },
  form: { translates: true },
  summary: { withoutSummary: true },
  // The caller's own form goes out as it came, and says it again.
  thinking: { withoutThinking: true, translates: true },
  proofs: { withoutProofs: true },
} satisfies Record<Refused, AskedForm>

/** What this very place refused and may take otherwise; each is changed once. */
export function refusedForm(
  call: Call,
  asked: AskedForm & { attempt: Attempt },
  { error, proofs, native }: Went & { error: unknown; proofs: AttemptProofs },
): Refused | null {
  if (!(error instanceof AttemptFailed) || error.local || error.closing !== undefined) return null
  const channel = upstreamChannelOf(asked.attempt)
  const failure = { ...error.failure, ...error.failure.original, ...error.failure.received }
  const hasOther = native !== null && hasOtherForm(native, call, asked.attempt)
  if (native?.mayLack?.(channel) === true && lacksPath(failure)) return 'path'
  if (hasOther && refusesForm(failure)) return 'form'
  // Its caller asked for none: nothing but the translation did, and callers of the vendor's own form say so themselves.
  const asksUnasked = !native && !call.dialect.asksForSummaries && !asked.withoutSummary
  if (asksUnasked && refusesSummary(failure)) return 'summary'
  const canLeaveOut = (!native || hasOther) && !asked.withoutThinking && wasAskedToThink(call)
  if (canLeaveOut && refusesThinking(failure)) return 'thinking'
  return refusesProofs(failure) && proofs.refuse() ? 'proofs' : null
}

/** What no other form can say is refused in the words of the upstream, which are better than ours. */
const hasOtherForm = (native: NativeDialect, { request }: Call, attempt: Attempt): boolean =>
  native.mayRefuse?.(upstreamChannelOf(attempt)) === true && isTranslatable(request, providerFor(attempt.channel.type))

export const isTranslatable = (request: ChatRequest, provider: Provider): boolean =>
  untranslatable(request, nativeDialectOf(provider), provider.chat) === undefined

const isRefusal = ({ status }: UpstreamFailure): boolean => status >= 400 && status < 500

/** "Your organization must be verified to generate reasoning summaries.": https://github.com/openai/openai-cookbook/issues/2271 */
const refusesSummary = (failure: UpstreamFailure): boolean =>
  isRefusal(failure) && /must be verified to generate reasoning summaries/i.test(failure.message)

/** Agents ask every model to think, in the words of their own vendor. Callers of chat completions know whom they ask. */
const wasAskedToThink = ({ dialect, request }: Call): boolean =>
  dialect.hasReasoningPlace && request.reasoning !== undefined

/** `"gemma3" does not support thinking` and `think value "medium" is not supported for this model`, of Ollama. */
const refusesThinking = (failure: UpstreamFailure): boolean =>
  isRefusal(failure) && /does not support thinking|think value "/i.test(failure.message)

function lacksPath({ status, param, code }: UpstreamFailure): boolean {
  // A vendor that does not know the model, or an answer that the call names, does not know it in another form either.
  const isOfField = code === 'model_not_found' || (param ?? String(status)) !== String(status)
  return (status === 404 && !isOfField) || status === 405
}

/** "tool type namespace not supported", "unknown field "prompt_cache_key"", "Invalid Responses API request", or `tools.8.type` alone. */
function refusesForm({ status, param, message }: UpstreamFailure): boolean {
  if (status !== 400 && status !== 422) return false
  const isOfTool = /^tools(\.|\[)\d+\]?\.type$/.test(String(param))
  return isOfTool || /tool type|unknown field|invalid responses api request/i.test(message)
}

/** Proofs are remembered each by itself, elsewhere. */
const remembered = ['path', 'form', 'summary', 'thinking'] as const
type Remembered = (typeof remembered)[number]

/** Which of them was refused not every refusal says. */
const namesIn = (body: Json): unknown[] => [
  Object.keys(body).sort(),
  [...new Set(recordsOf(body['tools']).map(({ type }) => String(type)))].sort(),
]

/** What of a call was refused, beside its model. */
const refusable: Record<Remembered, (call: Call, attempt: Attempt) => unknown> = {
  path: () => null,
  form: ({ body }) => namesIn(body.json),
  summary: (_, { key }) => key.position,
  thinking: ({ request }) => request.reasoning,
}

/** A user's calls of the same name are refused alike; what one user provokes concerns nobody else. Callers decide how long the parts are. */
function nameOf(refused: Remembered, call: Call, attempt: Attempt): string {
  const { id, native } = call.dialect
  const parts = [refused, call.caller.user.id, id, native, attempt.upstreamModel, refusable[refused](call, attempt)]
  return hash('sha256', JSON.stringify(parts), 'base64')
}

export function rememberRefused(
  forms: RefusedForms,
  call: Call,
  { attempt, refused }: { attempt: Attempt; refused: Refused },
): void {
  if (refused === 'proofs') return
  rememberRefusal(forms, attempt.channel, nameOf(refused, call, attempt))
}

/** The form in which the place takes such a call, where it is known not to take it as it would be sent. */
export function acceptedForm(known: KnownRefusals, call: Call, attempt: Attempt): AskedForm | undefined {
  const refused = remembered.filter((each) => known.has(nameOf(each, call, attempt)))
  if (refused.length === 0) return undefined
  const provider = providerFor(attempt.channel.type)
  const native = call.dialect.native && provider.native[call.dialect.native]
  const canChange = !native || hasOtherForm(native, call, attempt)
  const applies: Record<Remembered, boolean> = {
    path: isTranslatable(call.request, provider),
    form: canChange,
    thinking: canChange,
    summary: true,
  }
  const changes = refused.filter((each) => applies[each])
  return changes.length === 0 ? undefined : Object.assign({}, ...changes.map((each) => instead[each]))
}

/** Whether the upstream refused what was sent, not who sent it nor when. */
export const refusesCall = (error: unknown): boolean =>
  error instanceof AttemptFailed && !error.local && [400, 404, 405, 422].includes(error.failure.status)
