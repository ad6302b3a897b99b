import { splitKeys } from '#core/channel-types/split-keys.ts'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { DomainError } from '#core/errors.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import { channelStatus } from '#core/statuses.ts'
import type { Channel } from '#db/entities/channel.ts'
import { ChannelKey } from '#db/entities/channel-key.ts'
import type { Deps, UserDeps } from '#features/deps.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { UpstreamRefusal, type UpstreamRequest } from '#relay/providers/types.ts'
import { TransportError, type UpstreamReply } from '#relay/transport/send.ts'
import { describeTransportError, plainAddress } from '#relay/transport/transport-error.ts'
import {
  secretsBesideAddress,
  toUpstreamChannel,
  type UpstreamChannel,
  type UpstreamDeps,
} from '#relay/upstream-call/channel.ts'
import { isGood, upstreamFailure } from '#relay/upstream-call/send.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { sendWithToken } from '#relay/upstream-call/tokens.ts'
import { movesKey, toColumns } from '../rules.ts'
import { settingOf, withProxyPassword } from '../stored-setting.ts'
import { findChannel, readKeys } from './store.ts'
import { allowMovingKey } from './write.ts'

const largestReply = 8 * 1_048_576

/** One that went off by itself may be good again; what a person switched off is used where nothing else is left. */
const keyPreference: readonly number[] = [channelStatus.enabled, channelStatus.autoDisabled, channelStatus.disabled]

/** The channel with the first of its keys that is on. */
export async function withUsableKey(
  { em, secrets }: Pick<Deps, 'em' | 'secrets'>,
  channel: Channel,
): Promise<UpstreamChannel> {
  const keys = splitKeys(channel.type, secrets.decrypt(channel.keyEncrypted))
  const stored = withProxyPassword(secrets, channel)
  if (keys.length < 2) return toUpstreamChannel(stored, keys[0] ?? '')
  const where = { channelId: channel.id }
  const states = await em.find(ChannelKey, where, { orderBy: { position: 'asc' }, disableIdentityMap: true })
  const [first] = states.toSorted(
    (one, other) => keyPreference.indexOf(one.status) - keyPreference.indexOf(other.status),
  )
  return toUpstreamChannel(stored, keys[first?.position ?? 0] ?? '')
}

/** Why nothing usable came back, safe to show to people of the console. */
export type Refused = {
  ok: false
  message: string
  /** What the upstream itself answered; null where no answer came, or none that means anything. */
  fault: UpstreamFailure | null
  /** The same call may succeed in a moment. */
  retryable: boolean
}
export type Answer = { ok: true; text: string; bytes: Buffer; headers: UpstreamReply['headers'] } | Refused

export type AskDeps = UpstreamDeps & { signal?: AbortSignal }

/** One call to an upstream as the relay would make it, but that a person waits for it, who knows the address. */
export async function ask(
  deps: AskDeps,
  channel: UpstreamChannel,
  build: (token: string | undefined) => UpstreamRequest,
): Promise<Answer> {
  let address = ''
  const buildNoted = (token: string | undefined): UpstreamRequest => {
    const request = build(token)
    address = plainAddress(request.url)
    return request
  }
  const sending = { build: buildNoted, limits: timeoutsOf(channel.setting, 'probe'), signal: deps.signal }
  const masked = (text: string, token?: string) => maskSecrets(text, secretsBesideAddress(channel, token))
  try {
    const { reply, token } = await sendWithToken(deps, channel, sending)
    if (!isGood(reply)) {
      const failure = await upstreamFailure(reply, secretsBesideAddress(channel, token))
      const refused = refusedBy(failure, reply.status)
      return { ...refused, message: `${refused.message} (${masked(address, token)})` }
    }
    const bytes = await reply.bytes(largestReply)
    return { ok: true, text: bytes.toString('utf8'), bytes, headers: reply.headers }
  } catch (error) {
    if (error instanceof UpstreamRefusal) return refusedBy(error.failure)
    if (!(error instanceof TransportError)) throw error
    const retryable = error.kind !== 'bad-url' && error.kind !== 'bad-request'
    error.address ||= address
    const message = masked(describeTransportError(error))
    return { ok: false, message, fault: null, retryable }
  }
}

/** `failure` without secrets; `status` is what came, where that is reported by another. */
export const refusedBy = (failure: UpstreamFailure, status = failure.status): Refused => ({
  ok: false,
  message: `status code ${status}: ${failure.message}`,
  fault: failure,
  retryable: status === 429 || status >= 500,
})

/** What the upstream itself lists, by a stored channel's own key and address. */
export async function fetchModelsOf(deps: StoredDeps, { id }: { id: number }): Promise<string[]> {
  return fetchModelsOfRow(deps, await findChannel(deps, id))
}

/** @throws {DomainError} channel.fetch_models_unsupported */
export const fetchModelsOfRow = async (deps: StoredDeps, channel: Channel): Promise<string[]> =>
  askForModels(deps, await withUsableKey(deps, channel))

type ModelsDeps = AskDeps & Pick<Deps, 'secrets'>
type StoredDeps = ModelsDeps & Pick<Deps, 'em'>

type TypedChannel = { id?: number | undefined; type: number; baseUrl: string; key: string; other?: string | undefined }

/**
 * The same by what a form says, before it is saved; a blank key of a stored channel is the stored one.
 * @throws {DomainError} channel.key_needed_for_address, channel.fetch_models_unsupported
 */
export async function fetchModels(deps: UserDeps, input: TypedChannel): Promise<string[]> {
  const stored = input.id === undefined ? null : await findChannel(deps, input.id)
  const { type } = input
  const { baseUrl = '' } = toColumns({ baseUrl: input.baseUrl, type }, stored)
  const isStoredKey = stored !== null && input.key.trim() === ''
  if (isStoredKey && movesKey(stored, { type, baseUrl })) await allowMovingKey(deps)
  const [key = ''] = readKeys(type, isStoredKey ? deps.secrets.decrypt(stored.keyEncrypted) : input.key)
  const typed = {
    id: stored?.id ?? 0,
    type,
    baseUrl,
    other: input.other ?? stored?.other ?? '',
    openaiOrganization: stored?.openaiOrganization ?? '',
    createdAt: stored?.createdAt ?? deps.ambient.now(),
    setting: stored ? settingOf(deps.secrets, stored) : '',
  }
  return askForModels(deps, toUpstreamChannel(typed, key))
}

async function askForModels(deps: ModelsDeps, channel: UpstreamChannel): Promise<string[]> {
  if (!channelTypeOf(channel.type)?.modelsEndpoint) throw new DomainError('channel.fetch_models_unsupported')
  const { models } = providerFor(channel.type)
  const failed = (detail: string, cause?: unknown) =>
    new DomainError('channel.fetch_models_failed', { detail }, cause === undefined ? undefined : { cause })
  let used: string | undefined
  try {
    const answer = await ask(deps, channel, (token) => models.request(channel, (used = token)))
    if (!answer.ok) throw failed(answer.message)
    return [...new Set(models.read(JSON.parse(answer.text)))]
  } catch (error) {
    if (error instanceof DomainError) throw error
    if (!(error instanceof UpstreamRefusal)) throw failed('invalid JSON', error)
    throw failed(maskSecrets(error.failure.message, secretsBesideAddress(channel, used)), error)
  }
}
