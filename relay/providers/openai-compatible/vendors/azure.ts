import type { ProviderCall, ProviderChannel, RealtimeCaller } from '../../types.ts'
import type { Json } from '../../shared/json.ts'
import { openAiCompatible } from '../index.ts'
import { refusesChat } from '../model-families.ts'
import { realtimeQuery } from '../realtime.ts'

const defaultVersion = '2025-04-01-preview'
/** Values of the version that choose the surface without dated versions. */
const undated = new Set(['v1', 'latest', 'preview'])

/** Channels made before this instant name their deployments without dots. */
const dotsStaySince = Date.parse('2025-05-10T00:00:00Z')

const routedThroughCloudflare = 'https://gateway.ai.cloudflare.com'

const versionOf = (channel: ProviderChannel, asked?: string): string => asked || channel.other || defaultVersion

const deploymentOf = (model: string, channel: ProviderChannel): string =>
  channel.createdAt.getTime() < dotsStaySince ? model.replaceAll('.', '') : model

function chatUrl({ channel, model, query }: ProviderCall): string {
  const version = versionOf(channel, query['api-version'])
  if (undated.has(version)) {
    const suffix = version === 'preview' ? '?api-version=preview' : ''
    return `${channel.baseUrl}/openai/v1/chat/completions${suffix}`
  }
  const root = channel.baseUrl.startsWith(routedThroughCloudflare)
    ? channel.baseUrl
    : `${channel.baseUrl}/openai/deployments`
  const deployment = encodeURIComponent(deploymentOf(model, channel))
  return `${root}/${deployment}/chat/completions?api-version=${encodeURIComponent(version)}`
}

const isCognitive = (baseUrl: string): boolean => /\.cognitiveservices\.azure\.(com|us|cn)$/.test(baseUrl)

function responsesUrl({ channel, query }: ProviderCall): string {
  const version = versionOf(channel, query['api-version'])
  if (isCognitive(channel.baseUrl) && !undated.has(version)) {
    return `${channel.baseUrl}/openai/responses?api-version=${encodeURIComponent(version)}`
  }
  return `${channel.baseUrl}/openai/v1/responses?api-version=preview`
}

/**
 * The dated versions speak the beta form of the events only, and are dialled for its callers or where one is named. Of a session that
 * only transcribes no address names the deployment.
 */
function realtimeUrl({ channel, model, query }: ProviderCall, caller: RealtimeCaller): string {
  const version = query['api-version'] || channel.other || (caller.beta ? defaultVersion : 'v1')
  const deployment = deploymentOf(model, channel)
  if (undated.has(version)) return `${channel.baseUrl}/openai/v1/realtime?${realtimeQuery(deployment, caller)}`
  const asked = caller.transcribes ? realtimeQuery(deployment, caller) : `deployment=${encodeURIComponent(deployment)}`
  return `${channel.baseUrl}/openai/realtime?api-version=${encodeURIComponent(version)}&${asked}`
}

function modelsUrl(channel: ProviderChannel): string {
  const version = versionOf(channel)
  return undated.has(version)
    ? `${channel.baseUrl}/openai/v1/models`
    : `${channel.baseUrl}/openai/models?api-version=${encodeURIComponent(version)}`
}

/** Older dated versions refuse fields that came later. */
function adjust(body: Json, { channel, query }: ProviderCall): void {
  const version = versionOf(channel, query['api-version'])
  if (!/^\d{4}-/.test(version)) {
    body['model'] = deploymentOf(String(body['model']), channel)
    return
  }
  if (version < '2024-09-01') delete body['stream_options']
  if (version < '2024-12-01' && body['max_completion_tokens'] !== undefined) {
    body['max_tokens'] = body['max_completion_tokens']
    delete body['max_completion_tokens']
  }
}

export const azure = openAiCompatible({
  id: 'azure',
  telemetryName: 'azure.ai.openai',
  label: 'Azure OpenAI',
  channelTypes: [3],
  url: chatUrl,
  headers: (channel) => ({ 'api-key': channel.key }),
  completionsUrl: (call) => chatUrl(call).replace('/chat/completions', '/completions'),
  responsesUrl,
  // Deployments are named after their models; another name says nothing of what it takes.
  needsResponses: (_, asks) => refusesChat(asks),
  realtimeUrl,
  keyInHeaderOnly: true,
  compacts: true,
  takesTokens: true,
  extendedTools: () => true,
  adjust,
  modelsUrl,
})
