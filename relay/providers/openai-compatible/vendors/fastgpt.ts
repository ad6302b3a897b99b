import { openAiCompatible } from '../index.ts'

/** The whole key text, application id included, is the bearer token. */
export const fastgpt = openAiCompatible({ id: 'fastgpt', label: 'FastGPT', channelTypes: [22], streamUsage: false })
