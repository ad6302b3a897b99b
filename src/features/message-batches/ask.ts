import type { TaskServices } from '#features/tasks/service/task-channels.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { BatchCall } from '#relay/providers/types.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import type { UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { isGood, sendToUpstream } from '#relay/upstream-call/send.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import type { Json, StoredBatch } from './store.ts'

/** The most that an upstream says of one batch. */
export const largestBatchAnswer = 1024 * 1024

/** An upstream refused to tell of a batch. */
export class BatchRefused extends Error {
  override name = 'BatchRefused'
  readonly reply: UpstreamReply
  constructor(reply: UpstreamReply) {
    super(`the upstream answered with status ${reply.status}`)
    this.reply = reply
  }
}

/** Whether an upstream refused in a way that it will keep to; what does not answer, or not now, may come back. */
export const refusesForGood = (error: unknown): error is BatchRefused =>
  error instanceof BatchRefused && [400, 401, 403, 404, 410].includes(error.reply.status)

/** Asks about a batch where it is. @throws {BatchRefused}; {TransportError} */
export async function askAboutBatch(
  services: Pick<TaskServices, 'transport' | 'ambient'>,
  place: UpstreamChannel,
  { input, signal }: { input: BatchCall; signal?: AbortSignal | undefined },
): Promise<UpstreamReply> {
  const about = providerFor(place.type).batches?.about
  if (!about) throw new Error('a channel of this kind has no batches')
  const request = about(input, place)
  const reply = await sendToUpstream(services, place, {
    request,
    limits: timeoutsOf(place.setting, input.action === 'results' ? 'unstreamed' : 'probe'),
    signal,
  })
  if (!isGood(reply)) throw new BatchRefused(reply)
  return reply
}

/** What an upstream says of a batch; nothing where it is no such answer. */
export function asBatch(json: unknown): (Json & { id: string }) | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const { id, type } = json as Json
  return typeof id === 'string' && id !== '' && id.length <= 256 && type === 'message_batch'
    ? { ...(json as Json), id }
    : undefined
}

export const hasEnded = ({ answer }: Pick<StoredBatch, 'answer'>): boolean => answer['processing_status'] === 'ended'
