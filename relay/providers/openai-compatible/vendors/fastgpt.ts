import { openAiCompatible } from '../index.ts'

/** The whole key text, application id included, is the bearer token. */
export const fastgpt = openAiCompatible({
  id: 'fastgpt',
  label: 'FastGPT',
  channelTypes: [22],
  streamUsage: false,
  // Every answer says that it took one token and gave one: https://github.com/labring/FastGPT, pages/api/v2/chat/completions.ts
  usage: () => ({}),
})
