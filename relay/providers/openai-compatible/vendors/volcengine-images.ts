import { DomainError } from '#core/errors.ts'
import type { PlainRequest, PlainTranslation, ProviderCall } from '../../types.ts'
import { countIn, imagesToEdit } from '../../shared/given-images.ts'
import { joinPath } from '../../shared/join-path.ts'
import { type Json, withoutAbsent } from '../../shared/json.ts'
import { sidesWithin } from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'
import { oneImage } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

/** The most images one instruction may be about. */
const mostImages = 14

/** Fields of a form are texts. */
const switchIn = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value)

/**
 * How many pixels an image of a model has: https://www.volcengine.com/docs/82379/1541523, `size`. "image size must be at least 3686400
 * pixels", "image area must be at most 4624220 pixels"
 */
const pixelRanges: readonly [models: RegExp, range: readonly [number, number]][] = [
  [/seedream-5[-.]0-pro/, [1280 * 720, 4_624_220]],
  [/seedream-(4[-.]5|5[-.]0)/, [2560 * 1440, 4096 * 4096]],
  [/seedream-4[-.]0/, [1280 * 720, 4096 * 4096]],
]

/** Words for a size (`2K`) go on as they are. */
function sizeOf({ size }: Json, model: string): unknown {
  if (size === 'auto') return undefined
  const range = pixelRanges.find(([models]) => models.test(model))?.[1]
  const sides = range && sidesWithin(size, range)
  return sides ? `${sides.width}x${sides.height}` : size
}

const fieldsOf = (json: Json, model: string): Json => ({
  prompt: json['prompt'],
  size: sizeOf(json, model),
  response_format: json['response_format'],
  seed: countIn(json['seed']),
  guidance_scale: countIn(json['guidance_scale']),
  watermark: switchIn(json['watermark']),
  sequential_image_generation: json['sequential_image_generation'],
  sequential_image_generation_options: json['sequential_image_generation_options'],
})

function editRequest(asked: PlainRequest, call: ProviderCall) {
  const { json } = asked
  if ((countIn(json['n']) ?? 1) > 1) throw new DomainError('unsupported.answers')
  const given = imagesToEdit(asked, mostImages)
  const fields = fieldsOf(json, call.model)
  return {
    method: 'POST' as const,
    url: joinPath(call.channel.baseUrl, '/api/v3', '/images/generations'),
    headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
    body: withoutAbsent({ ...fields, model: call.model, image: given.length > 1 ? given : given[0] }),
    losses: unplacedFields(json, [...Object.keys(fields), 'model', 'image', 'images', 'n']),
  }
}

/** Images are edited where they are drawn, for which they stand beside the instruction: https://www.volcengine.com/docs/82379/1541523 */
export const volcengineImageEdits: Partial<PlainTranslation> = { readsImages: true, request: editRequest }

export function volcengineImages(style: OpenAiStyle): Partial<PlainTranslation> {
  const { request } = oneImage(style)
  return {
    request: ({ json, form }, call) =>
      request({ json: withoutAbsent({ ...json, size: sizeOf(json, call.model) }), form }, call),
  }
}
