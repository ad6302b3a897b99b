import { joinPath } from '../../shared/join-path.ts'
import { openAiCompatible } from '../index.ts'
import { volcengineEmbeddings } from './volcengine-embeddings.ts'
import { volcengineImageEdits } from './volcengine-images.ts'
import { oneImage } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'
import { thinkingType } from '../thinking-switch.ts'
import type { Json } from '../../shared/json.ts'

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
  reasoning: thinkingType(/seed|deepseek-v[34]|glm/),
  adjust,
}

export const volcengine = openAiCompatible({
  ...style,
  plain: { embeddings: volcengineEmbeddings, images: oneImage(style), 'image-edits': volcengineImageEdits },
})
