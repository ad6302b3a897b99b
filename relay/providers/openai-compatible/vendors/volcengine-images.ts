import { DomainError } from '#core/errors.ts'
import type { PlainRequest, PlainTranslation, ProviderCall } from '../../types.ts'
import { countIn, imagesToEdit } from '../../shared/given-images.ts'
import { joinPath } from '../../shared/join-path.ts'
import { type Json, withoutAbsent } from '../../shared/json.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'

/** The most images one instruction may be about. */
const mostImages = 14

/** Fields of a form are texts. */
const switchIn = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value)

const fieldsOf = (json: Json): Json => ({
  prompt: json['prompt'],
  size: json['size'] === 'auto' ? undefined : json['size'],
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
  const fields = fieldsOf(json)
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
