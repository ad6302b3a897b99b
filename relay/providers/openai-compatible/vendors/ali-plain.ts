import { DomainError } from '#core/errors.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import {
  type PlainRequest,
  type PlainTranslation,
  type ProviderCall,
  type ProviderChannel,
  UpstreamRefusal,
} from '../../types.ts'
import { type Json, listOf, numberOf, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../../shared/json.ts'
import { documentTexts, promptOnly, readSuccess, rerankList } from '../../shared/plain-answers.ts'
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

export const aliRerank: PlainTranslation = {
  request: (asked, call) => ({
    method: 'POST',
    url: nativeUrl(call.channel, '/services/rerank/text-rerank/text-rerank'),
    headers: headersOf(call),
    body: {
      model: call.model,
      input: { query: asked.json['query'], documents: documentTexts(asked) },
      parameters: withoutAbsent({
        top_n: asked.json['top_n'],
        return_documents: asked.json['return_documents'],
      }),
    },
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
const drawsAtOnce = (model: string): boolean => model.startsWith('qwen-image')

const sizeOf = (json: Json): string => (textOf(json['size']) || '1024x1024').replace('x', '*')

/** Fields of a form are texts. */
const countIn = (value: unknown): number | undefined => numberOf(value) ?? (Number(textOf(value)) || undefined)

const parametersOf = (json: Json): Json =>
  withoutAbsent({
    size: sizeOf(json),
    n: countIn(json['n']),
    seed: json['seed'],
    prompt_extend: json['prompt_extend'],
    watermark: json['watermark'],
    style: textOf(json['style'])?.startsWith('<') ? json['style'] : undefined,
  })

function drawRequest({ json }: PlainRequest, call: ProviderCall) {
  const { model } = call
  const headers = headersOf(call)
  const negative = withoutAbsent({ negative_prompt: json['negative_prompt'] })
  if (drawsAtOnce(model)) {
    return {
      method: 'POST' as const,
      url: nativeUrl(call.channel, '/services/aigc/multimodal-generation/generation'),
      headers,
      body: {
        model,
        input: { messages: [{ role: 'user', content: [{ text: json['prompt'] }] }] },
        parameters: { ...parametersOf(json), ...negative },
      },
    }
  }
  return {
    method: 'POST' as const,
    url: nativeUrl(call.channel, '/services/aigc/text2image/image-synthesis'),
    headers: { ...headers, 'x-dashscope-async': 'enable' },
    body: { model, input: { prompt: json['prompt'], ...negative }, parameters: parametersOf(json) },
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
const mostImages = 3

const addressesIn = (given: unknown): string[] =>
  (Array.isArray(given) ? given : [given]).flatMap((image: unknown) => {
    const named = recordOf(image)
    return wordOf(named ? (named['image_url'] ?? named['url']) : image) ?? []
  })

function editRequest({ json, form, images }: PlainRequest, call: ProviderCall) {
  if (!editsAtOnce.test(call.model)) throw new DomainError('unsupported.image_edits')
  if (json['mask'] !== undefined || form?.has('mask')) throw new DomainError('unsupported.mask')
  const given = images?.length ? images : addressesIn(json['image'] ?? json['images'])
  if (given.length === 0) throw new InvalidRequest('invalid_image_request', 'image is required')
  if (given.length > mostImages) throw new DomainError('unsupported.edited_images', { most: mostImages })
  // Without a size the answer keeps that of the last image.
  const { size, ...parameters } = parametersOf(json)
  const ownSize = textOf(json['size']) && json['size'] !== 'auto' ? { size } : {}
  return {
    method: 'POST' as const,
    url: nativeUrl(call.channel, '/services/aigc/multimodal-generation/generation'),
    headers: headersOf(call),
    body: {
      model: call.model,
      input: {
        messages: [{ role: 'user', content: [...given.map((image) => ({ image })), { text: json['prompt'] }] }],
      },
      parameters: withoutAbsent({ ...parameters, ...ownSize, negative_prompt: json['negative_prompt'] }),
    },
  }
}

/** https://www.alibabacloud.com/help/en/model-studio/qwen-image-edit-api */
export const aliImageEdits: PlainTranslation = {
  readsImages: true,
  request: editRequest,
  response: aliImages.response,
  usage: aliImages.usage,
}
