import type { ProviderCall, RealtimeCaller } from '../../types.ts'
import { openAiCompatible } from '../index.ts'
import { realtimeQuery } from '../realtime.ts'
import { fitStrictHost } from '../strict-hosts.ts'

/**
 * The socket beside a chat address, else the address itself; the model stands in it already or is its query. Servers whose address
 * has it want it for sessions that only transcribe, too.
 */
function realtimeUrl({ channel: { baseUrl }, model }: ProviderCall, caller: RealtimeCaller): string {
  const url = baseUrl.replace(/\/chat\/completions$/, '/realtime')
  const named = url.replaceAll('{model}', encodeURIComponent(model))
  if (url !== named && !caller.transcribes) return named
  return `${named}${named.includes('?') ? '&' : '?'}${realtimeQuery(model, caller)}`
}

/**
 * A model's name as a part of an address. Of some names callers choose the rest, which aims the channel's key at no other path: it
 * climbs to none above and begins no query.
 */
const inAddress = (model: string): string =>
  model
    .split('/')
    .filter((segment) => segment !== '.' && segment !== '..')
    .map((segment) => encodeURIComponent(segment).replaceAll(/%40|%3A/g, decodeURIComponent))
    .join('/')

/** The base is the whole address of the call; only the model's name may be put into it. */
export const custom = openAiCompatible({
  id: 'custom',
  label: 'Custom address',
  channelTypes: [8],
  url: ({ channel, model }) => channel.baseUrl.replaceAll('{model}', inAddress(model)),
  completionsUrl: ({ channel, model }) =>
    channel.baseUrl.replaceAll('{model}', inAddress(model)).replace(/\/chat\/completions$/, '/completions'),
  realtimeUrl,
  takesTokens: true,
  adjust: fitStrictHost,
  modelsUrl: (channel) => channel.baseUrl.replace(/\/chat\/completions(?=$|\?)/, '/models'),
})
