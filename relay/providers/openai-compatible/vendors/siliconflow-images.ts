import { DomainError } from '#core/errors.ts'
import type { PlainTranslation, ProviderCall } from '../../types.ts'
import { countIn, imagesToEdit } from '../../shared/given-images.ts'
import { type Json, recordOf, recordsOf, withoutAbsent, wordOf } from '../../shared/json.ts'
import { atMostImages, readSuccess } from '../../shared/plain-answers.ts'
import { placedSize, unplacedFields } from '../../shared/unplaced-fields.ts'
import { channelHeaders } from '../address.ts'
import { plainUrl } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

const fieldsOf = (json: Json): Json => ({
  prompt: json['prompt'],
  negative_prompt: json['negative_prompt'],
  seed: countIn(json['seed']),
  num_inference_steps: countIn(json['num_inference_steps']),
  guidance_scale: countIn(json['guidance_scale']),
})

const sent = (style: OpenAiStyle, call: ProviderCall, fields: Json) => ({
  method: 'POST' as const,
  url: plainUrl(style, 'images', call),
  headers: { 'content-type': 'application/json', ...channelHeaders(style, call.channel) },
  body: withoutAbsent({ model: call.model, ...fields }),
})

const reading: Pick<PlainTranslation, 'response' | 'usage'> = {
  response: (json) => {
    const answer = recordOf(json) ?? {}
    const rows = Array.isArray(answer['data']) ? answer['data'] : answer['images']
    return { data: recordsOf(rows).flatMap((row) => (wordOf(row['url']) === undefined ? [] : [{ url: row['url'] }])) }
  },
  usage: (json) => {
    readSuccess(json)
    return undefined
  },
}

/** An answer gives addresses, of which whoever wants bytes gets those. */
const placedElsewhere = ['model', 'n', 'response_format']

/** Models that draw several images for a call: https://docs.siliconflow.cn/en/api-reference/images/images-generations, `batch_size` */
const drawsSeveral = /kolors/i

/** Number and size have names of their own here. */
export const siliconflowImages = (style: OpenAiStyle): Partial<PlainTranslation> => ({
  request: ({ json }, call) => {
    const isSeveral = drawsSeveral.test(call.model)
    const fields = {
      ...fieldsOf(json),
      image_size: json['image_size'] ?? json['size'],
      ...(isSeveral ? { batch_size: json['batch_size'] ?? json['n'] } : {}),
      image: json['image'],
    }
    const { mostImages, losses } = atMostImages(json['n'], isSeveral ? Infinity : 1)
    return {
      ...sent(style, call, fields),
      mostImages,
      losses: [...losses, ...unplacedFields(json, [...Object.keys(fields), 'size', ...placedElsewhere])],
    }
  },
  ...reading,
})

/** The most images one instruction may be about. */
const mostImages = 3

/** Images are edited where they are drawn, one for a call, which keeps its size: https://docs.siliconflow.cn/en/api-reference/images/images-generations, `image` to `image3` */
export const siliconflowImageEdits = (style: OpenAiStyle): Partial<PlainTranslation> => ({
  readsImages: true,
  request: (asked, call) => {
    const { json } = asked
    if ((countIn(json['n']) ?? 1) > 1) throw new DomainError('unsupported.answers')
    const [image, image2, image3] = imagesToEdit(asked, mostImages)
    const fields = { ...fieldsOf(json), image, image2, image3 }
    const names = [...Object.keys(fields), 'images', ...placedElsewhere, ...placedSize(json, undefined)]
    return { ...sent(style, call, fields), losses: unplacedFields(json, names) }
  },
  ...reading,
})
