import { DomainError } from '#core/errors.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import {
  type PlainRequest,
  type PlainTranslation,
  type ProviderCall,
  type ProviderChannel,
  UpstreamRefusal,
} from '../../types.ts'
import { countIn, imagesToEdit } from '../../shared/given-images.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../../shared/json.ts'
import {
  documentsToRank,
  nearestRatio,
  promptOnly,
  readSuccess,
  rerankList,
  sidesWithin,
} from '../../shared/plain-answers.ts'
import { unplacedFields } from '../../shared/unplaced-fields.ts'
import { bearer } from '../address.ts'

/** The vendor's own surface stands beside the OpenAI one. */
const nativeUrl = ({ baseUrl }: ProviderChannel, path: string): string =>
  `${baseUrl.replace(/\/compatible-mode(\/v1)?$/, '')}/api/v1${path}`

const headersOf = ({ channel }: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  ...bearer(channel.key),
  ...(channel.other === '' ? {} : { 'x-dashscope-plugin': channel.other }),
})

const failed = (answer: Json): UpstreamFailure => ({
  status: /DataInspection|InvalidParameter/.test(textOf(answer['code']) ?? '') ? 400 : 500,
  type: 'upstream_error',
  code: wordOf(answer['code']) ?? null,
  message: wordOf(answer['message']) ?? 'the upstream could not draw the picture',
  param: null,
})

/** Models that see images and videos read them, and texts beside them, as objects: https://help.aliyun.com/en/model-studio/text-rerank-api */
function documentsOf(asked: PlainRequest): unknown[] {
  const documents = documentsToRank(asked)
  if (documents.every((document) => typeof document === 'string')) return documents
  return documents.map((document) => (typeof document === 'string' ? { text: document } : document))
}

/** Models that rank by an instruction. */
const takesInstruction = /^qwen3.*rerank/

const ranked = ['model', 'query', 'documents', 'top_n', 'return_documents']
const instructions = ['instruct', 'instruction']

const instructionOf = ({ json }: PlainRequest, { model }: ProviderCall): Json =>
  takesInstruction.test(model) ? { instruct: json['instruct'] ?? json['instruction'] } : {}

export const aliRerank: PlainTranslation = {
  request: (asked, call) => ({
    method: 'POST',
    url: nativeUrl(call.channel, '/services/rerank/text-rerank/text-rerank'),
    headers: headersOf(call),
    body: {
      model: call.model,
      input: { query: asked.json['query'], documents: documentsOf(asked) },
      parameters: withoutAbsent({
        top_n: asked.json['top_n'],
        return_documents: asked.json['return_documents'],
        ...instructionOf(asked, call),
      }),
    },
    losses: unplacedFields(asked.json, takesInstruction.test(call.model) ? [...ranked, ...instructions] : ranked),
  }),
  response: (json, asked) => {
    const answer = recordOf(json) ?? {}
    const total = numberOf(recordOf(answer['usage'])?.['total_tokens'])
    return {
      results: rerankList(recordOf(answer['output'])?.['results'], asked),
      ...(total === undefined ? {} : { usage: { prompt_tokens: total, total_tokens: total } }),
    }
  },
  usage: (json) => promptOnly(numberOf(recordOf(readSuccess(json)['usage'])?.['total_tokens'])),
}

/** Models that draw while the caller waits; all others work on a task. */
const drawsAtOnce = /^(qwen-image|z-image|wan(2\.[6-9]|[3-9]))/

/** Models that draw a few shapes only: "The size does not match the allowed size 1664*928,1472*1104,1328*1328,1104*1472,928*1664." */
const drawsShapes = /^qwen-image(-(plus|max))?(-\d{4}-\d\d-\d\d)?$/
const shapes = ['1664:928', '1472:1104', '1328:1328', '1104:1472', '928:1664']

/** Models whose images have 1280×1280 to 1440×1440 pixels: https://help.aliyun.com/en/model-studio/text-to-image-v2-api-reference */
const drawsPixels = /^wan2\.[56]-t2i/
const pixels = [1280 * 1280, 1440 * 1440] as const

/** What a model draws without a size is for it to know. */
function sizeOf(json: Json, model: string): string | undefined {
  const size = textOf(json['size']) ?? ''
  if (size === '' || size === 'auto') return undefined
  if (drawsShapes.test(model)) return nearestRatio(size, shapes)?.replace(':', '*') ?? size
  const sides = drawsPixels.test(model) ? sidesWithin(size, pixels) : undefined
  return sides ? `${sides.width}*${sides.height}` : size.replace('x', '*')
}

/** One is what a caller means who says nothing; models of this name draw four then. */
const usualCount = (model: string): number | undefined => (model.startsWith('wan') ? 1 : undefined)

const parametersOf = (json: Json, model: string): Json =>
  withoutAbsent({
    size: sizeOf(json, model),
    n: countIn(json['n']) ?? usualCount(model),
    seed: json['seed'],
    prompt_extend: json['prompt_extend'],
    watermark: json['watermark'],
    style: textOf(json['style'])?.startsWith('<') ? json['style'] : undefined,
  })

/** An answer gives addresses, of which whoever wants bytes gets those. */
const taken = ['model', 'prompt', 'size', 'n', 'negative_prompt', 'response_format']

const lossesOf = (json: Json, placed: readonly string[]): string[] => unplacedFields(json, [...taken, ...placed])

function drawRequest({ json }: PlainRequest, call: ProviderCall) {
  const { model } = call
  const headers = headersOf(call)
  const parameters = parametersOf(json, model)
  const losses = lossesOf(json, Object.keys(parameters))
  const negative = withoutAbsent({ negative_prompt: json['negative_prompt'] })
  if (drawsAtOnce.test(model)) {
    return {
      method: 'POST' as const,
      url: nativeUrl(call.channel, '/services/aigc/multimodal-generation/generation'),
      headers,
      body: {
        model,
        input: { messages: [{ role: 'user', content: [{ text: json['prompt'] }] }] },
        parameters: { ...parameters, ...negative },
      },
      losses,
    }
  }
  return {
    method: 'POST' as const,
    url: nativeUrl(call.channel, '/services/aigc/text2image/image-synthesis'),
    headers: { ...headers, 'x-dashscope-async': 'enable' },
    body: { model, input: { prompt: json['prompt'], ...negative }, parameters },
    losses,
  }
}

const lookEveryMs = 3000

function nextLook(json: unknown, { channel }: ProviderCall) {
  const output = recordOf(recordOf(json)?.['output']) ?? {}
  const id = wordOf(output['task_id'])
  const status = output['task_status']
  if (id === undefined || status === 'SUCCEEDED') return undefined
  if (status !== 'PENDING' && status !== 'RUNNING') throw new UpstreamRefusal(failed(output))
  const url = nativeUrl(channel, `/tasks/${encodeURIComponent(id)}`)
  return { request: { method: 'GET' as const, url, headers: bearer(channel.key) }, afterMs: lookEveryMs }
}

const drawnOf = (output: Json): Json[] => [
  ...recordsOf(output['results']).flatMap((result) => {
    const [url, bytes] = [wordOf(result['url']), wordOf(result['b64_image'])]
    return url === undefined && bytes === undefined ? [] : [withoutAbsent({ url, b64_json: bytes })]
  }),
  ...recordsOf(output['choices']).flatMap((choice) =>
    listOf(recordOf(choice['message'])?.['content']).flatMap((part) => {
      const url = wordOf(recordOf(part)?.['image'])
      return url === undefined ? [] : [{ url }]
    }),
  ),
]

/** Images are drawn as a task that is asked for until it is done. */
export const aliImages: PlainTranslation = {
  request: drawRequest,
  next: nextLook,
  response: (json) => ({ data: drawnOf(recordOf(recordOf(json)?.['output']) ?? {}) }),
  usage: (json) => {
    const output = recordOf(readSuccess(json)['output']) ?? {}
    if (drawnOf(output).length === 0) {
      const reason = recordsOf(output['results'])[0] ?? recordOf(json) ?? {}
      throw new UpstreamRefusal(failed(reason))
    }
    return undefined
  },
}

/** Models that are shown images with their instruction, and answer at once. Older ones need functions and masks of their own. */
const editsAtOnce = /^(qwen-image-(edit|[2-9])|wan(2\.[6-9]|[3-9]).*image)/

/** The most images one instruction may be about. */
const mostImages = (model: string): number => (/^wan(2\.[7-9]|[3-9])/.test(model) ? 9 : 3)

function editRequest(asked: PlainRequest, call: ProviderCall) {
  const { json } = asked
  if (!editsAtOnce.test(call.model)) throw new DomainError('unsupported.image_edits')
  const given = imagesToEdit(asked, mostImages(call.model))
  const parameters = parametersOf(json, call.model)
  return {
    method: 'POST' as const,
    url: nativeUrl(call.channel, '/services/aigc/multimodal-generation/generation'),
    headers: headersOf(call),
    body: {
      model: call.model,
      input: {
        messages: [{ role: 'user', content: [...given.map((image) => ({ image })), { text: json['prompt'] }] }],
      },
      // Without a size the answer keeps that of the last image.
      parameters: withoutAbsent({ ...parameters, negative_prompt: json['negative_prompt'] }),
    },
    losses: lossesOf(json, ['image', 'images', ...Object.keys(parameters)]),
  }
}

/** https://www.alibabacloud.com/help/en/model-studio/qwen-image-edit-api */
export const aliImageEdits: PlainTranslation = {
  readsImages: true,
  request: editRequest,
  response: aliImages.response,
  usage: aliImages.usage,
}
