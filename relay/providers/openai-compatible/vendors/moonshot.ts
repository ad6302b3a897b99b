import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { thinkingType } from '../thinking-switch.ts'

export const moonshot = openAiCompatible({
  id: 'moonshot',
  label: 'Moonshot',
  channelTypes: [25],
  ignoresSearches: true,
  messagesUrl: ({ channel }) =>
    // The coding plan has both dialects right below its own path.
    channel.baseUrl.includes('/coding')
      ? joinPath(channel.baseUrl, '/v1', '/messages')
      : `${channel.baseUrl.replace(/(\/anthropic)?(\/v1)?$/, '')}/anthropic/v1/messages`,
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  carriesReasoning: 'content',
  reasoning: thinkingType(/^kimi-k(2\.[5-9]|[3-9])/),
})
