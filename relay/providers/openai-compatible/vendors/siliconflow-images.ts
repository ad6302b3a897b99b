import type { PlainTranslation } from '../../types.ts'
import { recordOf, recordsOf, withoutAbsent, wordOf } from '../../shared/json.ts'
import { readSuccess } from '../../shared/plain-answers.ts'
import { channelHeaders } from '../address.ts'
import { plainUrl } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

/** Number and size have names of their own here. */
export const siliconflowImages = (style: OpenAiStyle): Partial<PlainTranslation> => ({
  request: ({ json }, call) => ({
    method: 'POST',
    url: plainUrl(style, 'images', call),
    headers: { 'content-type': 'application/json', ...channelHeaders(style, call.channel) },
    body: withoutAbsent({
      model: call.model,
      prompt: json['prompt'],
      negative_prompt: json['negative_prompt'],
      image_size: json['image_size'] ?? json['size'],
      batch_size: json['batch_size'] ?? json['n'],
      seed: json['seed'],
      num_inference_steps: json['num_inference_steps'],
      guidance_scale: json['guidance_scale'],
      image: json['image'],
    }),
  }),
  response: (json) => {
    const answer = recordOf(json) ?? {}
    const rows = Array.isArray(answer['data']) ? answer['data'] : answer['images']
    return { data: recordsOf(rows).flatMap((row) => (wordOf(row['url']) === undefined ? [] : [{ url: row['url'] }])) }
  },
  usage: (json) => {
    readSuccess(json)
    return undefined
  },
})
