import { type Fields, isObject } from '#relay/chat/json.ts'
import { readerFor, unreadNames } from '../read.ts'

const read = readerFor('invalid_image_request')

/** What the vendor draws where nobody says how many, and at most. */
const usualCount = 4
const mostImages = 4

const known = new Set(['sampleCount', 'aspectRatio', 'sampleImageSize'])
const knownInstance = new Set(['prompt'])

/** A size of each shape that a model of the name draws. */
const sizes: readonly [model: RegExp, sizes: Readonly<Record<string, string>>][] = [
  [/^dall-e-3/, { '16:9': '1792x1024', '4:3': '1792x1024', '9:16': '1024x1792', '3:4': '1024x1792' }],
  [/^dall-e/, {}],
  [/^(chat)?gpt-image/, { '16:9': '1536x1024', '4:3': '1536x1024', '9:16': '1024x1536', '3:4': '1024x1536' }],
  [/^/, { '16:9': '1280x720', '4:3': '1152x864', '9:16': '720x1280', '3:4': '864x1152' }],
]

export type PredictCall = {
  /** The call in the form of OpenAI's images. */
  json: Fields
  /** The call as it came, with the number of images that is charged for. */
  own: Fields
  /** Fields that the other form has no place for. */
  losses: string[]
  /** What must not be dropped silently. */
  untranslatable: string | undefined
}

/**
 * Body of `predict` for a model that draws → the form of OpenAI's images.
 * @throws {InvalidRequest} when there is nothing to draw.
 */
export function parsePredict(value: unknown, model: string): PredictCall {
  const body = read.body(value)
  const { instances: given } = body
  const instances = isObject(given) ? [given] : (read.list(given, 'instances') ?? [])
  const [instance] = instances
  if (!isObject(instance)) throw read.required('instances')
  if (instances.length > 1) throw read.invalid('instances')
  const prompt = read.name(instance['prompt'], 'instances[0].prompt')
  const parameters = read.object(body['parameters'], 'parameters') ?? {}
  const count = read.integer(parameters['sampleCount'], 'parameters.sampleCount', [1, mostImages])
  const n = count ?? (model.startsWith('imagen') ? usualCount : 1)
  const ratio = read.text(parameters['aspectRatio'], 'parameters.aspectRatio') ?? '1:1'
  const bySize = sizes.find(([pattern]) => pattern.test(model))?.[1]
  const isLarge = read.text(parameters['sampleImageSize'], 'parameters.sampleImageSize') === '2K'
  const size = bySize && Object.hasOwn(bySize, ratio) ? bySize[ratio] : '1024x1024'
  const beside = unreadNames(instance, knownInstance, 'instances')
  return {
    json: {
      model,
      prompt,
      n,
      size,
      ...(isLarge ? { quality: model.startsWith('dall-e-3') ? 'hd' : 'high' } : {}),
      // The newest models give bytes and nothing else, and refuse to be asked for them.
      ...(/^(chat)?gpt-image/.test(model) ? {} : { response_format: 'b64_json' }),
    },
    own: { ...body, parameters: { ...parameters, sampleCount: n } },
    losses: unreadNames(parameters, known, 'parameters'),
    // An image to begin with is an edit, which the other form has elsewhere.
    untranslatable: beside[0],
  }
}

const mediaTypes: readonly [start: string, type: string][] = [
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
]

/** An answer in the form of OpenAI's images, each with its bytes → the answer to `predict`. */
export function encodePredict(answer: unknown): unknown {
  const data: unknown = isObject(answer) ? answer['data'] : undefined
  const rows = Array.isArray(data) ? data.filter(isObject) : []
  return {
    predictions: rows.flatMap(({ b64_json: bytes, revised_prompt: prompt }) =>
      typeof bytes !== 'string'
        ? []
        : [
            {
              mimeType: mediaTypes.find(([start]) => bytes.startsWith(start))?.[1] ?? 'image/png',
              bytesBase64Encoded: bytes,
              ...(typeof prompt === 'string' ? { prompt } : {}),
            },
          ],
    ),
  }
}
