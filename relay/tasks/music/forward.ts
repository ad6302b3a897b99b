import { DomainError } from '#core/errors.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { storeMusicTask } from '#features/tasks/service/store.ts'
import { readMusicReply } from '#relay/dialects/music/reply.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import { attemptSecrets } from '#relay/attempt/upstream-channel.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError, isUnsent } from '#relay/attempt/failure.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import { askService, type TaskReply } from '../ask.ts'
import { chargeOfTask, chargeTask, recordAnswer } from '../charge.ts'
import type { MusicCall } from './call.ts'

const submitLimitMs = 60_000
const mostQuoted = 2000

/**
 * Submits a task, stores what was accepted, charges it, and passes the answer on.
 * @throws {AttemptFailed} when it was not accepted; another channel may take it.
 */
export async function forwardMusic(services: RelayServices, call: MusicCall, plan: AttemptPlan): Promise<void> {
  const { attempt } = plan
  if (attempt.channel.type !== call.platform.channelType) {
    const refusal = failureOfDomainError(new DomainError('music.platform_invalid'))
    throw new AttemptFailed(refusal, { local: true, elsewhere: true })
  }
  const sentAt = performance.now()
  const reply = await ask(services, call, attempt)
  const taskId = acceptedBy(services, attempt, reply)
  recordAnswer(plan, { status: reply.status, sentAt })
  const task = { taskId, suffix: '', other: { operation: 'music' } }
  const charge = chargeOfTask(services, call, { plan, task })
  const id = await store(services, call, { attempt, taskId, charge })
  await chargeTask(services, { kind: 'music', id }, charge)
  nameLosses(call.res, call.dropped)
  call.res.status(200).setHeader('content-type', 'application/json; charset=utf-8').end(reply.text)
}

async function ask(services: RelayServices, call: MusicCall, attempt: Attempt): Promise<TaskReply> {
  try {
    return await askService(services, attempt, {
      method: 'POST',
      path: call.platform.submitPath(call.action),
      headers: { authorization: `Bearer ${attempt.key.value}` },
      body: call.sent,
      timeoutMs: submitLimitMs,
    })
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    if (call.upstreamAbort.signal.aborted && !call.callerAborted.signal.aborted)
      throw new DomainError('relay.stopping', {}, { cause: error })
    const failure = failureOfDomainError(transportRefusal(error))
    throw new AttemptFailed(failure, { local: false, connection: true, mayBeTaken: !isUnsent(error), cause: error })
  }
}

function transportRefusal({ kind }: TransportError): DomainError {
  if (kind === 'bad-url' || kind === 'bad-request') return new DomainError('music.request_invalid')
  if (kind === 'too-large' || kind === 'bad-response') return new DomainError('music.reply_unreadable')
  return new DomainError('music.request_failed')
}

/** The id of the accepted task. @throws {AttemptFailed} */
function acceptedBy(services: RelayServices, attempt: Attempt, { status, text }: TaskReply): string {
  const withoutSecrets = (words: string): string => maskSecrets(words, attemptSecrets(attempt))
  if (status !== 200) {
    const message = withoutSecrets(text).slice(0, mostQuoted) || `upstream status ${status}`
    const failure = { status, type: 'upstream_error', code: 'fail_to_fetch_task', message }
    const shaped = shapeFailure(services, attempt.channel, failure)
    throw new AttemptFailed({ ...shaped, code: 'fail_to_fetch_task' }, { local: false })
  }
  const answer = readMusicReply(text)
  if (!answer) {
    const failure = failureOfDomainError(new DomainError('music.reply_malformed'))
    throw new AttemptFailed(failure, { local: false, mayBeTaken: true })
  }
  if (answer.code === 'success') return answer.taskId
  const refused = {
    status: 500,
    type: 'upstream_error',
    code: withoutSecrets(answer.code),
    message: withoutSecrets(answer.message),
  }
  throw new AttemptFailed(shapeFailure(services, attempt.channel, refused), { local: false })
}

async function store(
  services: RelayServices,
  call: MusicCall,
  { attempt, taskId, charge }: { attempt: Attempt; taskId: string; charge: ChargeRow },
): Promise<number> {
  const now = services.ambient.now()
  const { quota } = charge
  try {
    const row = {
      taskId,
      platform: call.platform.id,
      userId: call.caller.user.id,
      tokenId: call.caller.token?.id ?? 0,
      channelId: attempt.channel.id,
      keyHmac: services.secrets.hmac(attempt.key.value),
      requestId: call.id,
      quota,
      chargePending: true,
      action: call.action,
      status: 'NOT_START',
      progress: '0%',
      submittedAt: now,
      properties: { input: call.request.input },
      createdAt: now,
      updatedAt: now,
    }
    return await storeMusicTask(services, row, charge)
  } catch (cause) {
    throw new DomainError('music.store_failed', {}, { cause })
  }
}
