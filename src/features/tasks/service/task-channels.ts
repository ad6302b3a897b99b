import { withoutTrailingSlashes } from '#core/trailing.ts'
import { defaultBaseUrlOf } from '#core/channel-types/index.ts'
import { splitKeys } from '#core/channel-types/split-keys.ts'
import { maskJson, maskSecrets } from '#core/masking/mask-secrets.ts'
import { Channel } from '#db/entities/channel.ts'
import { proxyOf } from '#core/proxy-setting.ts'
import type { Services } from '#features/deps.ts'

/** What asking after tasks needs: the process's services, without a caller. */
export type TaskServices = Pick<Services, 'database' | 'secrets' | 'transport' | 'options' | 'ambient' | 'log'>

/** Where tasks are asked after: one channel by one of its keys. */
export type TaskPlace = { channelId: number; type: number; baseUrl: string; key: string; proxy: string }

/** The channels by number. One that is switched off still tells what became of its tasks. */
export async function findTaskChannels(
  { database, secrets, log }: TaskServices,
  ids: number[],
): Promise<Map<number, (keyHmac: string) => TaskPlace>> {
  const channels = await database.orm.em.fork().find(Channel, { id: { $in: ids } }, { disableIdentityMap: true })
  const places = new Map<number, (keyHmac: string) => TaskPlace>()
  for (const channel of channels) {
    try {
      const keys = splitKeys(channel.type, secrets.decrypt(channel.keyEncrypted))
      places.set(channel.id, (keyHmac) => ({
        channelId: channel.id,
        type: channel.type,
        baseUrl: withoutTrailingSlashes(channel.baseUrl) || defaultBaseUrlOf(channel.type),
        // A key that was replaced since: the upstream may well know its tasks by the new one.
        key: keys.find((key) => secrets.hmac(key) === keyHmac) ?? keys[0] ?? '',
        proxy: proxyOf(channel.setting),
      }))
    } catch (error) {
      // It exists, so its tasks are not given up; somebody has to see to its key.
      log.error({ err: error, channel: channel.id }, 'the key of a channel cannot be read')
      places.set(channel.id, () => ({ channelId: channel.id, type: channel.type, baseUrl: '', key: '', proxy: '' }))
    }
  }
  return places
}

/** A report as its owner may read it: an upstream's words of a failure may quote the key. Addresses of results stay. */
export const withoutKey = <Report>(report: Report, { type, key, proxy }: TaskPlace): Report =>
  JSON.parse(maskJson(JSON.stringify(report), { type, key, proxy })) as Report

/** Why it could not be asked; an error about an answer may quote it. */
export const reasonOf = (error: unknown, { type, key, proxy }: TaskPlace): string =>
  error instanceof SyntaxError ? 'invalid JSON' : maskSecrets(String(error), { type, key, proxy })

const askLimitMs = 15_000
const largestReport = 32 * 1024 * 1024

/** Asks an upstream after tasks. @throws {TransportError} and whatever JSON does. */
export async function askUpstream(
  { transport }: TaskServices,
  place: TaskPlace,
  request: { path: string; headers: Record<string, string>; body: unknown },
): Promise<unknown> {
  const reply = await transport.send({
    method: 'POST',
    url: place.baseUrl + request.path,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...request.headers },
    body: JSON.stringify(request.body),
    proxy: place.proxy || undefined,
    connectTimeoutMs: askLimitMs,
    firstByteTimeoutMs: askLimitMs,
    idleTimeoutMs: askLimitMs,
    signal: AbortSignal.timeout(askLimitMs),
  })
  if (reply.status !== 200) {
    reply.cancel()
    throw new Error(`the upstream answered with status ${reply.status}`)
  }
  return reply.json(largestReport)
}
