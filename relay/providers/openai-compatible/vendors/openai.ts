import { joinPath } from '../../shared/join-path.ts'
import { bearer } from '../address.ts'
import { openAiCompatible } from '../index.ts'
import { refusesChat } from '../model-families.ts'
import { realtimeQuery } from '../realtime.ts'
import { fitStrictHost } from '../strict-hosts.ts'
import type { OpenAiStyle } from '../style.ts'
import { voyageOperations } from './voyage.ts'

/** Bases behind this address name the vendor in the path and carry no version. */
const routedThroughCloudflare = 'https://gateway.ai.cloudflare.com'

const versionOf = (baseUrl: string): string => (baseUrl.startsWith(routedThroughCloudflare) ? '' : '/v1')

const isOfficial = (baseUrl: string): boolean => /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(baseUrl)

const style: OpenAiStyle = {
  id: 'openai',
  label: 'OpenAI',
  channelTypes: [1, 6, 7, 9, 10, 12, 13, 19, 31, 47, 53],
  url: ({ channel }) => joinPath(channel.baseUrl, versionOf(channel.baseUrl), '/chat/completions'),
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.type === 1 && channel.organization !== '' ? { 'openai-organization': channel.organization } : {}),
  }),
  modelsUrl: ({ baseUrl }) => joinPath(baseUrl, versionOf(baseUrl), '/models'),
  completionsUrl: ({ channel }) => joinPath(channel.baseUrl, versionOf(channel.baseUrl), '/completions'),
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, versionOf(channel.baseUrl), '/responses'),
  mayLackResponses: ({ baseUrl }) => !isOfficial(baseUrl),
  partialResponses: ({ baseUrl }) => !isOfficial(baseUrl),
  realtimeUrl: ({ channel, model }, caller) =>
    `${joinPath(channel.baseUrl, versionOf(channel.baseUrl), '/realtime')}?${realtimeQuery(model, caller)}`,
  needsResponses: ({ channel }, asks) => channel.type === 1 && isOfficial(channel.baseUrl) && refusesChat(asks),
  compacts: true,
  takesTokens: true,
  extendedTools: (channel) => isOfficial(channel.baseUrl),
  adjust: fitStrictHost,
}

/** The original, any server that speaks like it, and every number that has no provider of its own. */
export const openai = openAiCompatible({ ...style, plain: voyageOperations(style) })
