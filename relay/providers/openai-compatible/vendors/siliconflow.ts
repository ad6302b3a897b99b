import { openAiCompatible } from '../index.ts'
import { enableThinking } from '../thinking-switch.ts'

/** Models that let thinking be switched; all others refuse the field. */
const switchable = /Qwen3(?!.*(Instruct|Thinking|Coder))|GLM-4\.[5-9]|DeepSeek-V3\.[1-9]/i

export const siliconflow = openAiCompatible({
  id: 'siliconflow',
  label: 'SiliconFlow',
  channelTypes: [40],
  takesTopK: true,
  reasoning: enableThinking(switchable),
})
