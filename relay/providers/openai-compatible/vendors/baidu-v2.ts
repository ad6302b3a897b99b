import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { bearer } from '../address.ts'
import { openAiCompatible } from '../index.ts'
import { unpackedEmbeddings } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'
import { enableThinking, thinkingType } from '../thinking-switch.ts'
import { type Json, recordOf } from '../../shared/json.ts'
import type { PlainTranslation } from '../../types.ts'

function adjust(body: Json): void {
  const model = String(body['model'])
  if (!model.endsWith('-search')) return
  body['model'] = model.slice(0, -'-search'.length)
  body['web_search'] = { ...recordOf(body['web_search']), enable: true }
}

/** Words of their own: https://cloud.baidu.com/doc/qianfan-docs/s/Wm95lyynv, `thinking` and `enable_thinking` */
const switchType = thinkingType(/deepseek-v3\.[12]|kimi-k2\.5|glm-(4\.7|5)/)
const switchEnabled = enableThinking(/ernie-(4\.5-(turbo|vl-28b-a3b)|5)|qwen3/)

function reasoning(body: Json, request: ChatRequest): void {
  switchType(body, request)
  switchEnabled(body, request)
}

/**
 * https://cloud.baidu.com/doc/qianfan-api/s/Om9b4yj3w: 401 comes for models and parameters too, where nothing is wrong with the key,
 * and 403 for content that is refused with every key, and for accounts that have not paid.
 */
function error(failure: UpstreamFailure): UpstreamFailure {
  if (failure.type === 'unsafe_request') return { ...failure, status: 400 }
  switch (`${failure.status} ${failure.code}`) {
    case '401 invalid_model':
      return { ...failure, status: 404 }
    case '401 no_parameter_permission':
      return { ...failure, status: 403 }
    case '403 account_overdue':
      return { ...failure, status: 402 }
    default:
      return failure
  }
}

/** Of the longest texts, and of texts and images, there is one for a call. */
const embedsOne = /^(tao-8k|gme-)/

const style: OpenAiStyle = {
  id: 'baidu-v2',
  label: 'Baidu Qianfan v2',
  channelTypes: [46],
  version: '/v2',
  headers: (channel) => {
    const [key = '', appId = ''] = channel.key.split('|')
    return { ...bearer(key), ...(appId === '' ? {} : { appid: appId }) }
  },
  reasoning,
  adjust,
  error,
}

const embeddings: Partial<PlainTranslation> = {
  ...unpackedEmbeddings(style),
  mostInputs: ({ model }) => (embedsOne.test(model) ? 1 : 16),
}

export const baiduV2 = openAiCompatible({ ...style, plain: { embeddings } })
