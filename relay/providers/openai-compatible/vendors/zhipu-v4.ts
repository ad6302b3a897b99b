import type { UpstreamFailure } from '#relay/chat/events.ts'
import { fitUser } from '#relay/chat/fit/names.ts'
import type { NameRule } from '#relay/chat/fit/profile.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { type Json, numberOf, recordOf, recordsOf, wordOf } from '../../shared/json.ts'
import { isDefaultValue } from '../../shared/default-values.ts'
import { refusalOf } from '../../shared/failures.ts'
import { openAiCompatible } from '../index.ts'
import { messagesBelow } from '../messages-form.ts'
import { oneImage } from '../plain.ts'
import { effortOf } from '../request.ts'
import type { OpenAiStyle } from '../style.ts'
import { fitSteadyEffort, thinkingType } from '../thinking-switch.ts'
import { zhipuSpeech } from './zhipu-speech.ts'

const thinks = /^glm-(4\.[5-9]|[5-9])/
const takesEffort = /^glm-5\.[2-9]/
/** "This model always engages in thinking and cannot be disabled; please use low, high, or max.": https://docs.z.ai/guides/capabilities/thinking */
const alwaysThinks = /^glm-5\.[3-9]/

const switchThinking = thinkingType(thinks)

function reasoning(body: Json, request: ChatRequest): void {
  const model = String(body['model'])
  const effort = effortOf(request)
  const isSwitched = !alwaysThinks.test(model)
  if (isSwitched) switchThinking(body, request)
  if (takesEffort.test(model) && effort !== undefined && !(isSwitched && effort === 'none'))
    body['reasoning_effort'] = effort
}

/** Without an effort these models think as much as they can, so who asks them not to think is given the least. */
function keepThinking(body: Json): string[] {
  if (!alwaysThinks.test(String(body['model']))) return []
  const lost: string[] = []
  const thinking = recordOf(body['thinking'])
  if (thinking?.['type'] === 'disabled') {
    body['thinking'] = { ...thinking, type: 'enabled' }
    body['reasoning_effort'] ??= 'low'
    lost.push('thinking')
  }
  return [...lost, ...fitSteadyEffort(body)]
}

/** https://docs.bigmodel.cn/api-reference, chat completions, `user_id`: 6 to 128 characters. */
const userRule: NameRule = { shortest: 6, longest: 128, pattern: /^./s }

const refused = [
  'frequency_penalty',
  'presence_penalty',
  'stream_options',
  'n',
  'logprobs',
  'top_logprobs',
  'logit_bias',
]

function sampling(body: Json): void {
  const topP = numberOf(body['top_p'])
  if (topP !== undefined && topP >= 1) body['top_p'] = 0.99
  const temperature = numberOf(body['temperature'])
  if (temperature === 0) {
    delete body['temperature']
    body['do_sample'] = false
  } else if (temperature !== undefined && temperature > 1) body['temperature'] = 1
  if (typeof body['stop'] === 'string') body['stop'] = [body['stop']]
}

/** Only `auto` is a choice here: what forces falls back to it, what forbids takes the tools away. */
function tools(body: Json): string[] {
  const choice = body['tool_choice']
  if (choice === undefined || choice === 'auto') return []
  delete body['tool_choice']
  if (choice !== 'none') return ['tool_choice']
  delete body['tools']
  return []
}

const withoutStrict = (list: unknown): unknown =>
  recordsOf(list).some((tool) => recordOf(tool['function'])?.['strict'] !== undefined)
    ? recordsOf(list).map((tool) => {
        const fn = recordOf(tool['function'])
        if (!fn) return tool
        const { strict: _, ...rest } = fn
        return { ...tool, function: rest }
      })
    : list

/** The oldest image models want the bytes without their `data:` head. */
function bareImages(body: Json): void {
  if (!/^glm-4v(-(plus|flash))?$/.test(String(body['model'])) || !Array.isArray(body['messages'])) return
  body['messages'] = body['messages'].map((message: unknown) => {
    const content = recordOf(message)?.['content']
    if (!Array.isArray(content)) return message
    return { ...recordOf(message), content: content.map(bareImage) }
  })
}

function bareImage(part: unknown): unknown {
  const url = wordOf(recordOf(recordOf(part)?.['image_url'])?.['url'])
  if (url === undefined || !url.startsWith('data:')) return part
  return { ...recordOf(part), image_url: { url: url.slice(url.indexOf(',') + 1) } }
}

function adjust(body: Json): string[] {
  const lost = refused.filter((name) => body[name] !== undefined && !isDefaultValue(name, body[name]))
  for (const name of refused) delete body[name]
  if (body['max_completion_tokens'] !== undefined) {
    body['max_tokens'] ??= body['max_completion_tokens']
    delete body['max_completion_tokens']
  }
  const user = wordOf(body['user_id']) ?? wordOf(body['user'])
  delete body['user']
  if (user !== undefined) body['user_id'] = fitUser(user, userRule)
  lost.push(...keepThinking(body))
  sampling(body)
  bareImages(body)
  if (body['tools'] !== undefined) {
    if (recordsOf(body['tools']).some((tool) => recordOf(tool['function'])?.['strict'] === true))
      lost.push('tools.strict')
    body['tools'] = withoutStrict(body['tools'])
  }
  return [...lost, ...tools(body)]
}

/** The vendor's own numbers say more than the status they come with. */
function error(failure: UpstreamFailure): UpstreamFailure {
  const code = Number(failure.code)
  if (code >= 1000 && code <= 1004) return { ...failure, status: 401 }
  if (code >= 1110 && code <= 1113) return { ...failure, status: 402 }
  if ((code >= 1210 && code <= 1215) || code === 1301) return { ...failure, status: 400 }
  if ([1302, 1303, 1305, 1308, 1309, 1310].includes(code)) return { ...failure, status: 429 }
  return failure
}

function refusal(answer: Json): UpstreamFailure | undefined {
  const failure = refusalOf(answer)
  return failure && error(failure)
}

const style: OpenAiStyle = {
  id: 'zhipu-v4',
  label: 'Zhipu GLM',
  channelTypes: [26],
  messagesUrl: messagesBelow(/\/api(\/coding)?\/paas\/v4$/, '/api/anthropic/v1/messages'),
  profile: { user: userRule },
  version: '/api/paas/v4',
  streamUsage: false,
  carriesReasoning: 'content',
  reasoning,
  adjust,
  error,
  // The same numbers come with HTTP 200 and inside streams.
  refusal: { mark: '"error"', read: refusal },
}

/** https://docs.bigmodel.cn/api-reference, embeddings, `input`: more than 64 texts are refused with 1214. */
const embeddings = { mostInputs: 64 }

export const zhipuV4 = openAiCompatible({
  ...style,
  plain: { embeddings, images: oneImage(style), speech: zhipuSpeech(style) },
})
