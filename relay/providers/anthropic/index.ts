import type { Provider } from '../types.ts'
import { readClaudeFailure } from './answer-parts.ts'
import { messageBatches } from './batches.ts'
import { joinPath } from '../shared/join-path.ts'
import { recordOf, recordsOf, wordOf } from '../shared/json.ts'
import { claudeHeaders, classicVersion } from './headers.ts'
import { nativeClaude } from './native.ts'
import { type ClaudeHost, toClaudeRequest } from './request.ts'
import { afterOverride } from './override.ts'
import { claudeProfile } from './profile.ts'
import { fromClaudeResponse } from './response.ts'
import { createClaudeDecoder } from './stream.ts'

const host: ClaudeHost = {
  keepsThreads: true,
  url: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/messages'),
  headers: claudeHeaders,
}

export const anthropic: Provider = {
  id: 'anthropic',
  label: 'Anthropic',
  channelTypes: [14],
  framing: 'sse',
  pricedAsClaude: () => true,
  afterOverride,
  chat: {
    profile: () => claudeProfile,
    request: toClaudeRequest(host),
    response: (json, call) => fromClaudeResponse(json, call),
    stream: (call) => createClaudeDecoder(call),
    resumes: true,
    media: 'as-given',
    keepsThreads: true,
  },
  native: { claude: nativeClaude(host) },
  batches: messageBatches,
  error: readClaudeFailure,
  models: {
    request: (channel) => ({
      method: 'GET',
      url: `${joinPath(channel.baseUrl, '/v1', '/models')}?limit=1000`,
      headers: { 'x-api-key': channel.key, 'anthropic-version': classicVersion },
    }),
    read: (json) => recordsOf(recordOf(json)?.['data']).flatMap((row) => wordOf(row['id']) ?? []),
  },
}
