import {
  type PlainOperation,
  type PlainRequest,
  type PlainTranslation,
  type ProviderCall,
  UpstreamRefusal,
} from '../types.ts'
import { joinPath } from '../shared/join-path.ts'
import { type Json, recordOf, recordsOf, withoutAbsent } from '../shared/json.ts'
import { atMostImages, refuseTokens, rerankList } from '../shared/plain-answers.ts'
import { refusalOf } from '../shared/failures.ts'
import { channelHeaders } from './address.ts'
import type { OpenAiStyle } from './style.ts'
import { readUsage, usageObjectOf } from './usage.ts'

const paths: Record<PlainOperation, string> = {
  embeddings: '/embeddings',
  moderations: '/moderations',
  images: '/images/generations',
  'image-edits': '/images/edits',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  rerank: '/rerank',
}

/** The same form with the upstream's model name first, as some servers read fields in order. */
function formWithModel(form: FormData, model: string): FormData {
  const rebuilt = new FormData()
  rebuilt.set('model', model)
  const files: [string, File][] = []
  for (const [name, value] of form.entries()) {
    if (name === 'model') continue
    if (typeof value === 'string') rebuilt.append(name, value)
    else files.push([name, value])
  }
  for (const [name, file] of files) rebuilt.append(name, file, file.name)
  return rebuilt
}

const chatPath = /\/chat\/completions(?=$|\?)/

/** Where the operation stands beside the chat call. A custom address is the whole address, whatever is asked of it. */
export function plainUrl(style: OpenAiStyle, operation: PlainOperation, call: ProviderCall): string {
  if (style.url) return style.url(call).replace(chatPath, paths[operation])
  return joinPath(call.channel.baseUrl, style.version ?? '/v1', paths[operation])
}

const readReported = (json: unknown): Json | undefined => {
  const answer = recordOf(json) ?? {}
  const refusal = refusalOf(answer)
  if (refusal) throw new UpstreamRefusal(refusal)
  // Rankings are counted beside the answer by some.
  return usageObjectOf(answer) ?? recordOf(recordOf(answer['meta'])?.['tokens'])
}

const outputOf = (usage: Json): unknown => usage['completion_tokens'] ?? usage['output_tokens']

/** `input_tokens` and `output_tokens` are the newer operations' words for the same figures; transcriptions spell their details in the singular. */
const toChatWords = (usage: Json): Json => ({
  ...usage,
  // A total alone is of what was given; beside an output it holds that.
  prompt_tokens:
    usage['prompt_tokens'] ??
    usage['input_tokens'] ??
    (outputOf(usage) === undefined ? usage['total_tokens'] : undefined),
  completion_tokens: outputOf(usage),
  prompt_tokens_details:
    usage['prompt_tokens_details'] ?? usage['input_tokens_details'] ?? usage['input_token_details'],
  completion_tokens_details:
    usage['completion_tokens_details'] ?? usage['output_tokens_details'] ?? usage['output_token_details'],
})

/** Only the original and what stands for it take lists of tokens. */
function jsonOf(style: OpenAiStyle, operation: PlainOperation, asked: PlainRequest): Json {
  if (operation === 'embeddings' && !style.takesTokens) refuseTokens(asked)
  return asked.json
}

/** As received, unless its list has another name, or its documents are missing or written in another way. */
function toRanking(json: unknown, asked: PlainRequest): unknown {
  const answer = recordOf(json)
  if (answer?.['results'] === undefined && Array.isArray(answer?.['data'])) {
    const { data, ...rest } = answer
    return { ...rest, results: rerankList(data, asked) }
  }
  const rows = recordsOf(answer?.['results'])
  const wanted = asked.json['return_documents'] === true
  const fits = rows.every(({ document }) =>
    document === undefined || document === null ? !wanted : typeof document === 'object',
  )
  return fits ? json : { ...answer, results: rerankList(rows, asked) }
}

/** Operations of the OpenAI form: the caller's body with the model's name replaced, the answer as received. */
export const openAiOperation = (style: OpenAiStyle, operation: PlainOperation): PlainTranslation => ({
  request: ({ json, form }: PlainRequest, call: ProviderCall) => ({
    method: 'POST',
    url: plainUrl(style, operation, call),
    headers: { ...(form ? {} : { 'content-type': 'application/json' }), ...channelHeaders(style, call.channel) },
    body: form ? formWithModel(form, call.model) : { ...jsonOf(style, operation, { json, form }), model: call.model },
  }),
  ...(operation === 'rerank' ? { response: toRanking } : {}),
  usage: (json) => {
    const usage = readReported(json)
    return usage === undefined ? undefined : (style.usage ?? readUsage)(toChatWords(usage))
  },
})

/** For vendors who draw one image for a call and have no word for more; those that draw several have other words for it. */
export const oneImage = (style: OpenAiStyle): Pick<PlainTranslation, 'request'> => {
  const { request } = openAiOperation(style, 'images')
  return {
    request: ({ json: { n, ...json }, form }, call) => ({ ...request({ json, form }, call), ...atMostImages(n, 1) }),
  }
}

/** For vendors who pack no vectors, or in a word of their own; they are packed here anyway. */
export const unpackedEmbeddings = (style: OpenAiStyle): Pick<PlainTranslation, 'request'> => {
  const { request } = openAiOperation(style, 'embeddings')
  return {
    request: ({ json, form }, call) =>
      request({ json: withoutAbsent({ ...json, encoding_format: undefined }), form }, call),
  }
}
