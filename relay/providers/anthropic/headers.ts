import type { ProviderCall } from '../types.ts'

/** The version under which sampling fields are taken. */
export const classicVersion = '2023-06-01'

/** https://platform.claude.com/docs/en/agents-and-tools/mcp-connector */
const mcpBeta = 'mcp-client-2025-11-20'
const filesBeta = 'files-api-2025-04-14'

/** Headers set for a model by the option replace ours of the same name. */
function configured(call: ProviderCall): Record<string, string> {
  const settings = call.options['claude.model_headers_settings']
  const headers = Object.hasOwn(settings, call.originalModel) ? settings[call.originalModel] : undefined
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, values]) => [name.toLowerCase(), [values].flat().join(',')]),
  )
}

export type HeaderNeeds = {
  /** A sampling field is sent, which only the classic version takes. */
  sampling: boolean
  /** A stored file is referred to. */
  files: boolean
  /** Tools of remote servers are offered. */
  remoteTools?: boolean | undefined
}

export function claudeHeaders(call: ProviderCall, needs: HeaderNeeds): Record<string, string> {
  const { 'anthropic-version': version, 'anthropic-beta': beta } = call.callerHeaders
  const betas = [
    beta,
    needs.files && !beta?.includes('files-api') ? filesBeta : undefined,
    needs.remoteTools === true && !beta?.includes('mcp-client') ? mcpBeta : undefined,
  ]
    .filter(Boolean)
    .join(',')
  return {
    'content-type': 'application/json',
    accept: call.stream ? 'text/event-stream' : 'application/json',
    'x-api-key': call.channel.key,
    'anthropic-version': needs.sampling ? classicVersion : (version ?? classicVersion),
    ...(betas === '' ? {} : { 'anthropic-beta': betas }),
    ...configured(call),
  }
}
