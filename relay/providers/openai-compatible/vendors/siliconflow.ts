import type { ChatRequest } from '#relay/chat/request.ts'
import type { Json } from '../../shared/json.ts'
import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { effortOf } from '../request.ts'
import type { OpenAiStyle } from '../style.ts'
import { enableThinking, fitSteadyEffort } from '../thinking-switch.ts'
import { siliconflowImageEdits, siliconflowImages } from './siliconflow-images.ts'

/** Models that let thinking be switched; all others refuse the field. */
const switchable = {
  test: (model: string): boolean =>
    /GLM-(4\.[5-9]|5(?!\.[3-9]))|Kimi-K2\.[56]|DeepSeek-V(3\.[1-9]|4)/i.test(model) ||
    (/Qwen3/i.test(model) && !/Instruct|Thinking|Coder/i.test(model)),
}

const switchThinking = enableThinking(switchable)

/** Of these `reasoning_effort` is `low`, `high` or `max`, and of those below `high` or `max`. */
const alwaysThinks = /GLM-5\.[3-9]/i
/** https://docs.siliconflow.cn/docs/api/chat-completions-post, `reasoning_effort` */
const takesEffort = /GLM-5\.2|DeepSeek-V4/i

function reasoning(body: Json, request: ChatRequest): void {
  const model = String(body['model'])
  const effort = effortOf(request)
  if (alwaysThinks.test(model)) {
    if (effort !== undefined) body['reasoning_effort'] = effort
    return
  }
  switchThinking(body, request)
  if (takesEffort.test(model) && effort !== undefined && effort !== 'none' && body['enable_thinking'] !== false)
    body['reasoning_effort'] = effort === 'max' || effort === 'xhigh' ? 'max' : 'high'
}

/** Who asks a model that always thinks not to is given the least. */
function keepThinking(body: Json): string[] {
  if (!alwaysThinks.test(String(body['model']))) return []
  const isOff = body['enable_thinking'] === false
  delete body['enable_thinking']
  if (isOff) body['reasoning_effort'] ??= 'low'
  return [...(isOff ? ['enable_thinking'] : []), ...fitSteadyEffort(body)]
}

const style: OpenAiStyle = {
  id: 'siliconflow',
  label: 'SiliconFlow',
  channelTypes: [40],
  ignoresSearches: true,
  messagesUrl: messagesBelow(/\/v1$/, '/v1/messages'),
  takesTopK: true,
  completionsUrl: ({ channel }) => joinPath(channel.baseUrl, '/v1', '/completions'),
  reasoning,
  adjust: keepThinking,
}

/** https://docs.siliconflow.cn/en/api-reference/embeddings/create-embeddings, `input`; some models take twice as many. */
const embeddings = { mostInputs: 32 }

export const siliconflow = openAiCompatible({
  ...style,
  plain: { embeddings, images: siliconflowImages(style), 'image-edits': siliconflowImageEdits(style) },
})
