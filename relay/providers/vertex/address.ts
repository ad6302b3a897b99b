import { DomainError } from '#core/errors.ts'
import { modelPath } from '../gemini/request.ts'
import type { ProviderCall } from '../types.ts'
import { tryRecord, wordOf } from '../shared/json.ts'
import { readKey } from './key.ts'

/** The extra field is a region, or an object of regions by the model the caller named. */
function regionOf({ channel, originalModel }: Pick<ProviderCall, 'channel' | 'originalModel'>): string {
  const regions = tryRecord(channel.other)
  if (!regions) return channel.other.trim() || 'global'
  const own = Object.hasOwn(regions, originalModel) ? wordOf(regions[originalModel]) : undefined
  return own ?? wordOf(regions['default']) ?? 'global'
}

function hostOf(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`
  return `https://${region}-aiplatform.googleapis.com`
}

export const baseOf = (call: Pick<ProviderCall, 'channel' | 'originalModel'>): string =>
  call.channel.baseUrl || hostOf(regionOf(call))

function projectPath(call: ProviderCall): string {
  const key = readKey(call.channel.key)
  if (key.kind === 'express') {
    throw new DomainError('unsupported.plain_key')
  }
  const project = encodeURIComponent(key.projectId)
  return `${baseOf(call)}/v1/projects/${project}/locations/${encodeURIComponent(regionOf(call))}`
}

export function googleUrl(call: ProviderCall, model: string, operation: string): string {
  const path = `publishers/google/models/${modelPath(model)}${operation}`
  if (readKey(call.channel.key).kind === 'express') {
    return `${call.channel.baseUrl || 'https://aiplatform.googleapis.com'}/v1/${path}`
  }
  return `${projectPath(call)}/${path}`
}

/** Names with a date join it by `@` here; one release has a name of its own. */
export const toVertexClaude = (model: string): string =>
  model === 'claude-3-5-sonnet-20241022'
    ? 'claude-3-5-sonnet-v2@20241022'
    : model.replace(/^(claude-.*)-(\d{8})$/, '$1@$2')

export const claudeUrl = (call: ProviderCall, model: string): string =>
  `${projectPath(call)}/publishers/anthropic/models/${encodeURIComponent(toVertexClaude(model)).replace('%40', '@')}` +
  (call.stream ? ':streamRawPredict' : ':rawPredict')

export const claudeCountUrl = (call: ProviderCall): string =>
  `${projectPath(call)}/publishers/anthropic/models/count-tokens:rawPredict`

export const openAiUrl = (call: ProviderCall): string => `${projectPath(call)}/endpoints/openapi/chat/completions`

export function credentialHeaders({ channel, token }: Pick<ProviderCall, 'channel' | 'token'>): Record<string, string> {
  const key = readKey(channel.key)
  return key.kind === 'express' ? { 'x-goog-api-key': key.key } : { authorization: `Bearer ${token ?? ''}` }
}
