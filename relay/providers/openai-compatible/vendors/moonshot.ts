import { joinPath } from '../../wire/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { thinkingType } from '../thinking-switch.ts'

export const moonshot = openAiCompatible({
  id: 'moonshot',
  label: 'Moonshot',
  channelTypes: [25],
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/responses'),
  carriesReasoning: 'content',
  reasoning: thinkingType(/^kimi-k(2\.[5-9]|[3-9])/),
})
