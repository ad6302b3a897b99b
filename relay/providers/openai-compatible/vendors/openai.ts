import { joinPath } from '../../wire/join-path.ts'
import { bearer } from '../address.ts'
import { openAiCompatible } from '../index.ts'

/** Bases behind this address name the vendor in the path and carry no version. */
const routedThroughCloudflare = 'https://gateway.ai.cloudflare.com'

const isOfficial = (baseUrl: string): boolean => /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(baseUrl)

/** The original, any server that speaks like it, and every number that has no provider of its own. */
export const openai = openAiCompatible({
  id: 'openai',
  label: 'OpenAI',
  channelTypes: [1, 6, 7, 9, 10, 12, 13, 19, 31, 47, 53],
  url: ({ channel }) =>
    joinPath(channel.baseUrl, channel.baseUrl.startsWith(routedThroughCloudflare) ? '' : '/v1', '/chat/completions'),
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.type === 1 && channel.organization !== '' ? { 'openai-organization': channel.organization } : {}),
  }),
  extendedTools: (channel) => isOfficial(channel.baseUrl),
})
