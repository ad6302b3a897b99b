import { type PlainRequest, type PlainTranslation, type ProviderCall, UpstreamRefusal } from '../types.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../shared/json.ts'
import { countIn } from '../shared/given-images.ts'
import { atMostImages, nearestRatio } from '../shared/plain-answers.ts'
import { placedSize, unplacedFields } from '../shared/unplaced-fields.ts'
import { failureIn } from './failure.ts'
import { readUsage } from './usage.ts'

export type ImageHost = {
  /** `operation` begins with the colon that separates it from the model. */
  url: (call: ProviderCall, model: string, operation: string) => string
  headers: (call: ProviderCall) => Record<string, string>
}

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9']

/** The others draw one within an answer in words, and have no word for more. */
const mostOfImagen = 4

const isImagen = (model: string): boolean => model.startsWith('imagen')

function predictBody(json: Json): Json {
  const quality = textOf(json['quality'])
  return {
    instances: [{ prompt: json['prompt'] }],
    parameters: withoutAbsent({
      sampleCount: Math.min(Math.max(countIn(json['n']) ?? 1, 1), mostOfImagen),
      aspectRatio: nearestRatio(json['size'], ratios) ?? '1:1',
      personGeneration: 'allow_adult',
      sampleImageSize: quality === 'hd' || quality === 'high' ? '2K' : undefined,
    }),
  }
}

function generateBody(json: Json): Json {
  const aspectRatio = nearestRatio(json['size'], ratios)
  return {
    contents: [{ role: 'user', parts: [{ text: json['prompt'] }] }],
    generationConfig: withoutAbsent({
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: aspectRatio === undefined ? undefined : { aspectRatio },
    }),
  }
}

/** Images come as bytes alone. */
function lossesOf(json: Json, isPredicted: boolean): string[] {
  const { quality, response_format: format } = json
  const hasQuality = isPredicted && ['low', 'medium', 'high', 'standard', 'hd', 'auto'].includes(String(quality))
  return unplacedFields(json, [
    'model',
    'prompt',
    'n',
    ...placedSize(json, nearestRatio(json['size'], ratios)),
    ...(hasQuality ? ['quality'] : []),
    ...(format === 'b64_json' ? ['response_format'] : []),
  ])
}

const predicted = (answer: Json): Json[] =>
  recordsOf(answer['predictions']).flatMap((prediction) => {
    const bytes = wordOf(prediction['bytesBase64Encoded'])
    return bytes === undefined ? [] : [{ b64_json: bytes }]
  })

function generated(answer: Json): Json[] {
  const parts = recordsOf(answer['candidates']).flatMap((candidate) =>
    recordsOf(recordOf(candidate['content'])?.['parts']),
  )
  const text = parts.flatMap((part) => (part['thought'] === true ? [] : (wordOf(part['text']) ?? []))).join('')
  return parts.flatMap((part) => {
    const bytes = wordOf(recordOf(part['inlineData'])?.['data'])
    if (bytes === undefined || part['thought'] === true) return []
    return [withoutAbsent({ b64_json: bytes, revised_prompt: text === '' ? undefined : text })]
  })
}

const drawn = (answer: Json): Json[] => [...predicted(answer), ...generated(answer)]

/** The reason an image was held back, where the vendor gives one. */
function heldBack(answer: Json): string {
  const reasons = recordsOf(answer['predictions']).flatMap(
    (prediction) => wordOf(prediction['raiFilteredReason']) ?? [],
  )
  const finish = wordOf(recordsOf(answer['candidates'])[0]?.['finishReason'])
  return reasons[0] ?? `the upstream drew no picture${finish === undefined ? '' : `: ${finish}`}`
}

/** Images of both kinds of models: those that only draw, and those that draw within an answer in words. */
export const geminiImages = (host: ImageHost): PlainTranslation => ({
  request: ({ json }: PlainRequest, call) => {
    const isPredicted = isImagen(call.model)
    const { mostImages, losses } = atMostImages(json['n'], isPredicted ? mostOfImagen : 1)
    return {
      method: 'POST',
      url: host.url(call, call.model, isPredicted ? ':predict' : ':generateContent'),
      headers: host.headers(call),
      body: isPredicted ? predictBody(json) : generateBody(json),
      mostImages,
      losses: [...losses, ...lossesOf(json, isPredicted)],
    }
  },
  takesNative: (call) => isImagen(call.model),
  native: {
    gemini: ({ json }, call) => ({
      method: 'POST',
      url: host.url(call, call.model, ':predict'),
      headers: host.headers(call),
      body: json,
    }),
  },
  response: (json) => ({ data: drawn(recordOf(json) ?? {}) }),
  usage: (json) => {
    const answer = recordOf(json) ?? {}
    const failure = failureIn(answer)
    if (failure) throw new UpstreamRefusal(failure)
    if (drawn(answer).length === 0) {
      const message = heldBack(answer)
      throw new UpstreamRefusal({ status: 400, type: 'upstream_error', code: 'no_images', message, param: null })
    }
    const usage = recordOf(answer['usageMetadata'])
    return usage ? readUsage(usage, drawn(answer).length) : undefined
  },
})
