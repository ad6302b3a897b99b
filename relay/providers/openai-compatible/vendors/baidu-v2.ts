import { bearer } from '../address.ts'
import { openAiCompatible } from '../index.ts'
import { enableThinking } from '../thinking-switch.ts'
import { type Json, recordOf } from '../../shared/json.ts'

function adjust(body: Json): void {
  const model = String(body['model'])
  if (!model.endsWith('-search')) return
  body['model'] = model.slice(0, -'-search'.length)
  body['web_search'] = { ...recordOf(body['web_search']), enable: true }
}

export const baiduV2 = openAiCompatible({
  id: 'baidu-v2',
  label: 'Baidu Qianfan v2',
  channelTypes: [46],
  version: '/v2',
  headers: (channel) => {
    const [key = '', appId = ''] = channel.key.split('|')
    return { ...bearer(key), ...(appId === '' ? {} : { appid: appId }) }
  },
  reasoning: enableThinking(/ernie-(4\.5-turbo|5)|qwen3|deepseek-v3/),
  adjust,
  plain: { embeddings: { mostInputs: 16 } },
})
