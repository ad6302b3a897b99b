import { type PlainTranslation, UpstreamRefusal } from '../types.ts'
import { countOf, recordOf, withoutAbsent } from '../shared/json.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'
import { promptOnly, textsToEmbed } from '../shared/plain-answers.ts'
import { refusalIn } from './failure.ts'

const paths: Readonly<Record<string, string>> = {
  'Embedding-V1': 'embedding-v1',
  'bge-large-zh': 'bge_large_zh',
  'bge-large-en': 'bge_large_en',
  'tao-8k': 'tao_8k',
}

const pathOf = (model: string): string =>
  Object.hasOwn(paths, model) ? (paths[model] as string) : encodeURIComponent(model.toLowerCase())

/** The answer has the OpenAI form already. */
export const baiduEmbeddings: PlainTranslation = {
  mostInputs: ({ model }) => (model === 'tao-8k' ? 1 : 16),
  request: (asked, { channel, model, token }) => ({
    method: 'POST',
    url:
      `${channel.baseUrl}/rpc/2.0/ai_custom/v1/wenxinworkshop/embeddings/${pathOf(model)}` +
      `?access_token=${encodeURIComponent(token ?? '')}`,
    headers: { 'content-type': 'application/json' },
    body: withoutAbsent({ input: textsToEmbed(asked), user_id: asked.json['user'] }),
    losses: unplacedFields(asked.json, ['model', 'input', 'user', 'encoding_format']),
  }),
  response: (json, asked) => ({ ...recordOf(json), model: asked.json['model'] }),
  usage: (json) => {
    const answer = recordOf(json) ?? {}
    const failure = refusalIn(answer)
    if (failure) throw new UpstreamRefusal(failure)
    return promptOnly(countOf(recordOf(answer['usage'])?.['prompt_tokens']))
  },
}
