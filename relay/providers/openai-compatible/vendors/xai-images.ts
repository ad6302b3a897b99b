import type { PlainRequest, PlainTranslation, ProviderCall } from '../../types.ts'
import { countIn, imagesToEdit } from '../../shared/given-images.ts'
import { joinPath } from '../../shared/join-path.ts'
import { type Json, withoutAbsent, wordOf } from '../../shared/json.ts'
import { nearestRatio } from '../../shared/plain-answers.ts'
import { placedSize, unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1']

const qualityIn = ({ quality }: Json): unknown =>
  quality === 'low' || quality === 'medium' || quality === 'high' ? quality : undefined

const placedQuality = (json: Json): string[] =>
  qualityIn(json) === undefined && json['quality'] !== 'auto' ? [] : ['quality']

const post = (call: ProviderCall, path: string, body: Json) => ({
  method: 'POST' as const,
  url: joinPath(call.channel.baseUrl, '/v1', path),
  headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
  body: withoutAbsent(body),
})

/** Images have a shape and a resolution here instead of a size. */
export const xaiImages: Partial<PlainTranslation> = {
  request: ({ json }, call) => {
    const { size, quality, style, user, aspect_ratio: ratio, ...rest } = json
    const shape = wordOf(ratio) ?? nearestRatio(size, ratios)
    const fields = { ...rest, model: call.model, aspect_ratio: shape, quality: qualityIn(json) }
    return {
      ...post(call, '/images/generations', fields),
      losses: unplacedFields({ size, quality, style, user }, [...placedSize(json, shape), ...placedQuality(json)]),
    }
  },
}

/** The most images one instruction may be about. */
const mostImages = 3

function editRequest(asked: PlainRequest, call: ProviderCall) {
  const { json } = asked
  const given = imagesToEdit(asked, mostImages).map((url) => ({ url, type: 'image_url' }))
  const [only] = given
  // One image keeps its shape.
  const ratio = given.length > 1 ? nearestRatio(json['size'], ratios) : undefined
  const fields = {
    prompt: json['prompt'],
    n: countIn(json['n']),
    response_format: json['response_format'],
    aspect_ratio: wordOf(json['aspect_ratio']) ?? ratio,
    resolution: json['resolution'],
  }
  const placed = [
    ...Object.keys(fields),
    'model',
    'image',
    'images',
    ...placedSize(json, ratio),
    ...placedQuality(json),
  ]
  const images = given.length > 1 ? { images: given } : { image: only }
  return {
    ...post(call, '/images/edits', { ...fields, quality: qualityIn(json), model: call.model, ...images }),
    losses: unplacedFields(json, placed),
  }
}

/** Edits are JSON here: https://docs.x.ai/developers/model-capabilities/images/generation, "Image Editing". */
export const xaiImageEdits: Partial<PlainTranslation> = { readsImages: true, request: editRequest }
