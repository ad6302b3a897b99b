import { openAiCompatible } from '../index.ts'
import { readUsage } from '../usage.ts'

/** The whole key text, application id included, is the bearer token. */
export const fastgpt = openAiCompatible({
  id: 'fastgpt',
  label: 'FastGPT',
  channelTypes: [22],
  streamUsage: false,
  // Its answers say that they took one token and gave one, which makes one in all, whatever they did: https://github.com/labring/FastGPT, pages/api/v2/chat/completions.ts
  usage: (usage) => (usage['total_tokens'] === 1 ? {} : readUsage(usage)),
})
