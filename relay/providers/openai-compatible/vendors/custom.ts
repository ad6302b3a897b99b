import { openAiCompatible } from '../index.ts'

/** The base is the whole address of the call; only the model's name may be put into it. */
export const custom = openAiCompatible({
  id: 'custom',
  label: 'Custom address',
  channelTypes: [8],
  url: ({ channel, model }) => channel.baseUrl.replaceAll('{model}', model),
  modelsUrl: (channel) => channel.baseUrl.replace(/\/chat\/completions$/, '/models'),
})
