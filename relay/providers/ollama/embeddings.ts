import { listOf, numberOf, recordOf, withoutAbsent } from '../shared/json.ts'
import type { PlainTranslation } from '../types.ts'
import { bearer } from '../openai-compatible/address.ts'
import { textsToEmbed } from '../shared/plain-answers.ts'
import { unplacedFields } from '../shared/unplaced-fields.ts'
import { nativeUrl } from './address.ts'

/** What a model is run with, by names that callers of OpenAI's form use too. */
const optionNames = ['seed', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty']
const taken = ['model', 'input', 'dimensions', 'truncate', 'keep_alive', 'options', 'encoding_format', ...optionNames]

/** The server's own call, which embeds one text or many. */
export const ollamaEmbeddings: PlainTranslation = {
  request: (asked, { channel, model }) => {
    const { json } = asked
    const options = withoutAbsent({
      ...Object.fromEntries(optionNames.map((name) => [name, json[name]])),
      ...recordOf(json['options']),
    })
    return {
      method: 'POST',
      url: nativeUrl(channel, '/embed'),
      headers: { 'content-type': 'application/json', ...bearer(channel.key) },
      body: withoutAbsent({
        model,
        input: textsToEmbed(asked),
        dimensions: json['dimensions'],
        truncate: json['truncate'],
        keep_alive: json['keep_alive'],
        options: Object.keys(options).length > 0 ? options : undefined,
      }),
      losses: unplacedFields(json, taken),
    }
  },
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    // Servers of the first versions answer with the one vector of the one text.
    const rows = answer['embedding'] === undefined ? listOf(answer['embeddings']) : [answer['embedding']]
    const prompt = numberOf(answer['prompt_eval_count']) ?? 0
    return {
      object: 'list',
      data: rows.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: asked.json['model'],
      usage: { prompt_tokens: prompt, total_tokens: prompt },
    }
  },
  usage: (json) => {
    const prompt = numberOf(recordOf(json)?.['prompt_eval_count'])
    return prompt === undefined ? undefined : { promptTokens: prompt }
  },
}
