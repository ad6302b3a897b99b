import { parseJson } from '#core/exact-json.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import { Channel } from '#db/entities/channel.ts'
import { withProxyPassword } from '#features/channels/stored-setting.ts'
import type { Services } from '#features/deps.ts'
import { secretsBesideAddress, toUpstreamChannel, type UpstreamChannel } from '#relay/upstream-call/channel.ts'
import { sendToUpstream } from '#relay/upstream-call/send.ts'
import { endsWithin } from '#relay/upstream-call/timeouts.ts'

/** What asking after tasks needs: the process's services, without a caller. */
export type TaskServices = Pick<Services, 'database' | 'secrets' | 'transport' | 'options' | 'ambient' | 'log'>

/** The channels by number. One that is switched off is still asked what became of its tasks. */
export async function findTaskChannels(
  { database, secrets, log }: TaskServices,
  ids: number[],
): Promise<Map<number, (keyHmac: string) => UpstreamChannel>> {
  const channels = await database.orm.em.fork().find(Channel, { id: { $in: ids } }, { disableIdentityMap: true })
  const places = new Map<number, (keyHmac: string) => UpstreamChannel>()
  for (const channel of channels) {
    try {
      const keys = splitKeys(channel.type, secrets.decrypt(channel.keyEncrypted))
      // A key that was replaced since: the upstream may well know its tasks by the new one.
      const keyOf = (keyHmac: string) => keys.find((key) => secrets.hmac(key) === keyHmac) ?? keys[0] ?? ''
      const stored = withProxyPassword(secrets, channel)
      places.set(channel.id, (keyHmac) => toUpstreamChannel(stored, keyOf(keyHmac)))
    } catch (error) {
      // It exists, so its tasks are not given up; somebody has to see to its key.
      log.error({ err: error, channel: channel.id }, 'the key of a channel cannot be read')
      const stored = { ...channel, setting: '', proxyEncrypted: undefined }
      places.set(channel.id, () => ({ ...toUpstreamChannel(stored, ''), baseUrl: '' }))
    }
  }
  return places
}

/** A report as its owner may read it: an upstream's words of a failure may quote the key. Addresses of results stay. */
export const withoutKey = <Report>(report: Report, place: UpstreamChannel): Report =>
  parseJson(maskJson(JSON.stringify(report), secretsBesideAddress(place))) as Report

/** Why it could not be asked; an error about an answer may quote it. */
export const reasonOf = (error: unknown, place: UpstreamChannel): string =>
  error instanceof SyntaxError ? 'invalid JSON' : maskSecrets(String(error), secretsBesideAddress(place))

const askLimitMs = 15_000
const largestReport = 32 * 1024 * 1024

/** Asks an upstream after tasks. @throws {TransportError} and whatever JSON does. */
export async function askUpstream(
  services: TaskServices,
  place: UpstreamChannel,
  { path, headers: own, body }: { path: string; headers: Record<string, string>; body: unknown },
): Promise<unknown> {
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...own }
  const reply = await sendToUpstream(services, place, {
    request: { method: 'POST', url: place.baseUrl + path, headers, body },
    limits: endsWithin(askLimitMs),
  })
  if (reply.status !== 200) {
    reply.cancel()
    throw new Error(`the upstream answered with status ${reply.status}`)
  }
  return reply.json(largestReport)
}
