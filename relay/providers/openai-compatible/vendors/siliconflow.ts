import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import type { OpenAiStyle } from '../style.ts'
import { enableThinking } from '../thinking-switch.ts'
import { siliconflowImageEdits, siliconflowImages } from './siliconflow-images.ts'

/** Models that let thinking be switched; all others refuse the field. */
const switchable = {
  test: (model: string): boolean =>
    /GLM-4\.[5-9]|DeepSeek-V(3\.[1-9]|4)/i.test(model) ||
    (/Qwen3/i.test(model) && !/Instruct|Thinking|Coder/i.test(model)),
}

const style: OpenAiStyle = {
  id: 'siliconflow',
  label: 'SiliconFlow',
  channelTypes: [40],
  ignoresSearches: true,
  messagesUrl: messagesBelow(/\/v1$/, '/v1/messages'),
  takesTopK: true,
  completionsUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/completions'),
  reasoning: enableThinking(switchable),
}

/** https://docs.siliconflow.cn/en/api-reference/embeddings/create-embeddings, `input`; some models take twice as many. */
const embeddings = { mostInputs: 32 }

export const siliconflow = openAiCompatible({
  ...style,
  plain: { embeddings, images: siliconflowImages(style), 'image-edits': siliconflowImageEdits(style) },
})
