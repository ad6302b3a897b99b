import { DomainError } from '#core/errors.ts'
import { opensDialogue, submitCode } from '#core/tasks/drawing.ts'
import { finished } from '#core/tasks/progress.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { type NewDrawing, storeDrawing } from '#features/tasks/service/store.ts'
import { isAccepted, readSubmitReply, shownCode, type SubmitReply } from '#relay/dialects/drawing/reply.ts'
import { forwardedBody, pathOf } from '#relay/dialects/drawing/request.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import { type AttemptPlan, giveBack } from '#relay/attempt/attempts.ts'
import { disableDeadKey, takeOut } from '#relay/routing/auto-disable.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError, maskedFailure } from '#relay/attempt/failure.ts'
import { countFailedAttempt, logFailedCall } from '#relay/attempt/log-failure.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { shownFailure } from '#relay/attempt/shape-failure.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import { askService, type TaskReply } from '../ask.ts'
import { chargeOfTask, chargeTask, recordAnswer } from '../charge.ts'
import type { DrawingCall } from './call.ts'
import { shownRefusal } from './refusal.ts'

const submitLimitMs = 60_000

/**
 * Submits a drawing, stores what came of it, charges what was accepted, and passes the answer on.
 * @throws {AttemptFailed} when there was no answer, or none that can be read, or the channel is busy.
 */
export async function forwardDrawing(services: RelayServices, call: DrawingCall, plan: AttemptPlan): Promise<void> {
  const { attempt } = plan
  const sentAt = performance.now()
  const reply = await ask(services, call, attempt)
  const answer = readAnswer(reply)
  const accepted = isAccepted(call.action, answer.code)
  const charged = accepted && !opensDialogue(call.action)
  if (accepted) recordAnswer(plan, { status: reply.status, sentAt })
  const charge = charged ? chargeOfTask(services, call, { plan, task: chargeWords(call, answer) }) : null
  const row = rowOf(services, call, { attempt, answer, accepted, charge })
  const id = await storeDrawing(services, row, charge).catch((cause: unknown) => {
    throw new DomainError('drawing.store_failed', {}, { cause })
  })
  if (!accepted) {
    await refuse(services, call, { plan, reply, answer })
    recordAnswer(plan, { status: reply.status, sentAt })
  }
  if (charge) await chargeTask(services, { kind: 'drawing', id }, charge)
  else await giveBack(services, call)
  nameLosses(call.res, call.dropped)
  call.res
    .status(reply.status)
    .setHeader('content-type', 'application/json; charset=utf-8')
    .end(
      accepted
        ? acceptedText(call, answer)
        : shownRefusal(services, { incoming: call, place: attempt }, { ...answer, status: reply.status }),
    )
}

function acceptedText(call: DrawingCall, answer: SubmitReply): string {
  const code = shownCode(call.action, answer.code)
  return answer.json['code'] === code ? answer.text : JSON.stringify({ ...answer.json, code })
}

async function ask(services: RelayServices, call: DrawingCall, attempt: Attempt): Promise<TaskReply> {
  const { options } = services
  try {
    return await askService(services, attempt, {
      method: 'POST',
      path: pathOf(call.request.submission),
      headers: { 'mj-api-secret': attempt.key.value },
      body: forwardedBody(call.body.json, {
        keepsAccountFilter: options.get('MjAccountFilterEnabled'),
        keepsNotifyHook: options.get('MjNotifyEnabled'),
        clearsMode: options.get('MjModeClearEnabled'),
      }),
      timeoutMs: submitLimitMs,
    })
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    if (call.upstreamAbort.signal.aborted && !call.callerAborted.signal.aborted)
      throw new DomainError('relay.stopping', {}, { cause: error })
    const unreadable = error.kind === 'too-large' || error.kind === 'bad-response'
    throw failed(unreadable ? 'drawing.reply_unreadable' : 'drawing.request_failed', error)
  }
}

type Failing = 'drawing.request_failed' | 'drawing.reply_unreadable' | 'drawing.reply_empty' | 'drawing.reply_malformed'

const failed = (code: Failing, cause?: unknown): AttemptFailed =>
  new AttemptFailed(
    { ...failureOfDomainError(new DomainError(code)), type: 'upstream_error', code: submitCode.failed },
    { local: false, connection: code === 'drawing.request_failed', cause },
  )

function readAnswer(reply: TaskReply): SubmitReply {
  if (reply.text.trim() === '') throw failed('drawing.reply_empty')
  const answer = readSubmitReply(reply)
  if (!answer) throw failed('drawing.reply_malformed')
  return answer
}

/** A hand-in of images is done with its answer and has no number upstream, so it goes by ours. */
const taskIdOf = (call: DrawingCall, answer: SubmitReply): string =>
  call.action === 'UPLOAD' && answer.taskId === '' && answer.addresses.length > 0 ? call.id : answer.taskId

function rowOf(
  services: RelayServices,
  call: DrawingCall,
  {
    attempt,
    answer,
    accepted,
    charge,
  }: { attempt: Attempt; answer: SubmitReply; accepted: boolean; charge: ChargeRow | null },
): NewDrawing {
  const { request, followed } = call
  const now = services.ambient.now()
  return {
    code: answer.code,
    userId: call.caller.user.id,
    tokenId: call.caller.token?.id ?? 0,
    action: call.action,
    mjId: taskIdOf(call, answer),
    prompt: followed?.prompt ?? request.prompt,
    description: answer.description,
    state: request.state,
    customId: request.customId,
    botType: request.botType,
    mode: call.mode,
    submittedAt: now,
    channelId: attempt.channel.id,
    keyHmac: services.secrets.hmac(attempt.key.value),
    requestId: call.id,
    quota: charge?.quota ?? 0,
    chargePending: charge !== null,
    failReason: accepted ? '' : answer.description || `code ${answer.code}`,
    ...resultOf(call, answer, { accepted, now }),
  }
}

/** What is known of the result at once: of images handed in, and of a task that existed before. */
function resultOf(
  call: DrawingCall,
  answer: SubmitReply,
  { accepted, now }: { accepted: boolean; now: Date },
): Partial<NewDrawing> {
  const done = { status: 'SUCCESS', progress: finished, startedAt: now, finishedAt: now }
  if (!accepted) return {}
  if (call.action === 'UPLOAD' && answer.code === submitCode.accepted)
    return { ...done, imageUrl: answer.addresses[0] ?? '' }
  if (answer.code !== submitCode.exists) return {}
  const { imageUrl, status } = answer.properties
  return {
    ...(typeof imageUrl === 'string' ? { imageUrl } : {}),
    ...(status === 'SUCCESS' ? done : typeof status === 'string' ? { status } : {}),
  }
}

const chargeWords = (call: DrawingCall, answer: SubmitReply) => {
  const taskId = taskIdOf(call, answer)
  return {
    taskId,
    suffix: `，ID ${taskId}`,
    other: { operation: 'drawing', ...(call.mode === '' ? {} : { mode: call.mode }) },
  }
}

/** What a refusal means for its channel. @throws {AttemptFailed} when it is busy, which callers are distinguished. */
async function refuse(
  services: RelayServices,
  call: DrawingCall,
  { plan, reply, answer }: { plan: AttemptPlan; reply: TaskReply; answer: SubmitReply },
): Promise<void> {
  const { attempt, attempts } = plan
  if (answer.code === submitCode.busy) throw busy(services, attempt, answer.description)
  // A task that the service has forgotten says nothing of its accounts.
  if (answer.code === submitCode.notFound && call.followed === null) await disableEmpty(services, attempt)
  if (reply.status < 400) return
  const failure = { status: reply.status, type: 'upstream_error', code: answer.code, message: answer.description }
  const shown = new AttemptFailed(shownFailure(services, failure), { local: false })
  const error = maskedFailure(shown, attemptSecrets(attempt))
  await disableDeadKey(services, call, { attempt, error })
  countFailedAttempt(services, call, { attempt, attempts, error })
  logFailedCall(services, call, { attempt, attempts, error })
}

function busy(services: RelayServices, attempt: Attempt, description: string): AttemptFailed {
  const refusal = new DomainError('drawing.busy')
  const type = 'upstream_error'
  const code = submitCode.busy
  const own = failureOfDomainError(refusal)
  const message = [description, own.message].filter((part) => part !== '').join(' ')
  // What the service said stands beside our own words, so these are not written anew for the caller.
  const failure = hidesFailures(services)
    ? { ...own, type, code, original: { type, code, message } }
    : { ...own, type, code, message, refusal: undefined }
  return maskedFailure(new AttemptFailed(failure, { local: false, cause: refusal }), attemptSecrets(attempt))
}

/** A service without a usable account serves nobody until a person has looked at it. */
async function disableEmpty(services: RelayServices, attempt: Attempt): Promise<void> {
  if (!services.options.get('AutomaticDisableChannelEnabled') || !attempt.channel.autoBan) return
  await takeOut(services, attempt, 'no account available')
}
