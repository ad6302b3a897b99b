import { openAiCompatible } from '../index.ts'

/** Embeddings only, right below the address. */
export const mokaai = openAiCompatible({
  id: 'mokaai',
  label: 'MokaAI',
  channelTypes: [44],
  version: '',
  streamUsage: false,
})
