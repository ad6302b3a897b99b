import type { ChatRequest } from '#relay/chat/request.ts'
import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { volcengineEmbeddings } from './volcengine-embeddings.ts'
import { volcengineImageEdits, volcengineImages } from './volcengine-images.ts'
import { effortOf } from '../request.ts'
import type { OpenAiStyle } from '../style.ts'
import { thinkingType } from '../thinking-switch.ts'
import { type Json, recordOf } from '../../shared/json.ts'

const version = '/api/v3'

const ownSuffix = /^deepseek.*-thinking$/

function adjust(body: Json): void {
  const model = String(body['model'])
  if (ownSuffix.test(model)) {
    body['model'] = model.slice(0, -'-thinking'.length)
    body['thinking'] = { type: 'enabled' }
  }
  // The two limits exclude each other here; the newer one counts reasoning too and wins.
  if (body['max_completion_tokens'] !== undefined) delete body['max_tokens']
}

const switchThinking = thinkingType(/seed|deepseek-v[34]|glm/)

/** Models of which `reasoning_effort` is `minimal` to `max`; the first of them know none above `high`. */
const takesEffort = /seed-(1[-.]6(-lite)?-251015|1[-.]8|[2-9]|character|evolving)|deepseek-v[4-9]|glm-5[-.][2-9]/
const takesHighAtMost = /seed-1/

/** An effort is refused beside thinking that is off ("Invalid combination of reasoning_effort and thinking type: low + disabled"), and the least one means off. */
function reasoning(body: Json, request: ChatRequest): void {
  switchThinking(body, request)
  const model = String(body['model'])
  const effort = effortOf(request)
  if (effort === undefined || effort === 'none' || !takesEffort.test(model)) return
  if (recordOf(body['thinking'])?.['type'] !== 'enabled') return
  if (effort === 'minimal') body['reasoning_effort'] = 'low'
  else
    body['reasoning_effort'] = takesHighAtMost.test(model) && (effort === 'xhigh' || effort === 'max') ? 'high' : effort
}

const style: OpenAiStyle = {
  id: 'volcengine',
  label: 'Volcengine Ark',
  channelTypes: [45],
  responsesUrl: ({ channel }) => joinPath(channel.baseUrl, '/api/v3', '/responses'),
  partialResponses: () => true,
  version,
  ownSuffix,
  url: ({ channel, model }) =>
    joinPath(channel.baseUrl, version, model.startsWith('bot') ? '/bots/chat/completions' : '/chat/completions'),
  carriesReasoning: 'content',
  reasoning,
  adjust,
}

export const volcengine = openAiCompatible({
  ...style,
  plain: { embeddings: volcengineEmbeddings, images: volcengineImages(style), 'image-edits': volcengineImageEdits },
})
