import type { PlainOperation, PlainRequest } from '#relay/providers/types.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import type { Asked } from './types.ts'

type Json = Record<string, unknown>

const word = (value: unknown): string => (typeof value === 'string' ? value : '')
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
/** What an upstream makes of an image, wherever one may stand in an input. */
const tokensPerImage = 1000
/** Inputs are lists of lists at most; what lies deeper is for the upstream to refuse. */
const deepest = 4

type InputContent = { texts: string[]; tokens: number }

const imageNames = new Set(['image', 'image_url', 'image_base64', 'b64_json'])

/**
 * What a value costs as input: its texts, which are counted later, and what needs no counting. A number is a token that the
 * caller has made itself.
 */
function collectInput(value: unknown, into: InputContent, depth = 0): void {
  if (typeof value === 'string') into.texts.push(value)
  else if (typeof value === 'number') into.tokens += 1
  else if (Array.isArray(value)) {
    if (depth < deepest) for (const item of value) collectInput(item, into, depth + 1)
  } else if (typeof value === 'object' && value !== null && depth < deepest) {
    for (const [name, inner] of Object.entries(value)) {
      if (imageNames.has(name)) into.tokens += tokensPerImage
      else if (name !== 'type' && typeof inner !== 'number') collectInput(inner, into, depth + 1)
    }
  }
}

/** A request with the model that it is meant for, named or not. */
type Checked = Pick<PlainRequest, 'json' | 'form'> & { model: string }

/**
 * The `code` of a malformed request for each kind, and the model names that stand in when none is given: by which a channel is looked for,
 * and which goes upstream where that is another.
 */
const kinds: Record<
  PlainOperation,
  { code: string; model: string; upstream?: string; check: (given: Checked) => void }
> = {
  embeddings: {
    code: 'invalid_embedding_request',
    model: '',
    check: ({ json }) => refuseIf(isEmpty(json['input']), 'invalid_embedding_request', 'input is empty'),
  },
  moderations: {
    code: 'invalid_text_request',
    model: 'text-moderation-stable',
    upstream: 'text-moderation-latest',
    check: ({ json }) => refuseIf(isEmpty(json['input']), 'invalid_text_request', 'input is required'),
  },
  images: { code: 'invalid_image_request', model: 'dall-e', upstream: 'dall-e-2', check: checkImage },
  'image-edits': { code: 'invalid_image_request', model: 'gpt-image-1', check: checkImage },
  speech: {
    code: 'invalid_audio_request',
    model: 'tts-1',
    check: ({ json }) => refuseIf(isEmpty(json['input']), 'invalid_audio_request', 'input is required'),
  },
  transcriptions: { code: 'invalid_audio_request', model: 'whisper-1', check: checkFile },
  translations: { code: 'invalid_audio_request', model: 'whisper-1', check: checkFile },
  rerank: {
    code: 'invalid_query',
    model: '',
    check: ({ json }) => {
      refuseIf(isEmpty(json['query']), 'invalid_query', 'query is empty')
      refuseIf(isEmpty(json['documents']), 'invalid_documents', 'documents is empty')
    },
  },
}

function refuseIf(condition: boolean, code: string, message: string): void {
  if (condition) throw new InvalidRequest(code, message)
}

function checkFile({ form }: Checked): void {
  refuseIf(!(form?.get('file') instanceof Blob), 'invalid_audio_request', 'file is required')
}

const dallE2Sizes = ['256x256', '512x512', '1024x1024']
const dallE3Sizes = ['1024x1024', '1024x1792', '1792x1024']

function checkImage({ json, model }: Checked): void {
  const code = 'invalid_image_request'
  refuseIf(isEmpty(json['prompt']), code, 'prompt is required')
  const size = word(json['size'])
  refuseIf(size.includes('×'), code, "size must be written with the letter 'x', as in 1024x1024")
  const allowed = model === 'dall-e-3' ? dallE3Sizes : ['dall-e-2', 'dall-e'].includes(model) ? dallE2Sizes : null
  refuseIf(
    allowed !== null && size !== '' && !allowed.includes(size),
    code,
    `size must be one of ${allowed?.join(', ')}`,
  )
  const { n } = json
  const count = typeof n === 'string' ? Number(n) : n
  const fits =
    count === undefined || count === null || (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 128)
  refuseIf(!fits, code, 'n must be a whole number from 1 to 128')
}

type BilledParts = Pick<Asked, 'json' | 'texts' | 'tokens' | 'count' | 'size' | 'quality'>

/**
 * Reads a body as an operation's request.
 * @throws {InvalidRequest} with the documented code and text.
 */
export function parsePlain(operation: PlainOperation, given: PlainRequest, pathModel: string | undefined): Asked {
  const kind = kinds[operation]
  const named = word(given.json['model']) || pathModel
  const model = named || kind.model
  refuseIf(model === '', kind.code, 'model is required')
  kind.check({ ...given, model })
  const filledIn = Object.entries(defaultsOf(operation, model)).filter(([name]) => (given.json[name] ?? null) === null)
  const json = { ...given.json, ...Object.fromEntries(filledIn) }
  return {
    ...given,
    operation,
    model,
    ...(named ? {} : { usualModel: kind.upstream }),
    filledIn: filledIn.map(([name]) => name),
    stream: json['stream'] === true || json['stream'] === 'true' || json['stream_format'] === 'sse',
    ...billedParts(operation, json),
  }
}

/** What of a body is counted and priced. */
export function billedParts(operation: PlainOperation, json: Json): BilledParts {
  const count = Number(json['n'] ?? 1)
  const weighed: InputContent = { texts: [], tokens: 0 }
  for (const name of ['input', 'prompt', 'query', 'documents']) collectInput(json[name], weighed)
  return {
    json,
    ...weighed,
    count: (operation === 'images' || operation === 'image-edits') && Number.isInteger(count) && count > 0 ? count : 1,
    size: word(json['size']),
    quality: word(json['quality']),
  }
}

function defaultsOf(operation: PlainOperation, model: string): Json {
  if (operation !== 'images' || !['dall-e', 'dall-e-2', 'dall-e-3'].includes(model)) return {}
  return { n: 1, size: '1024x1024', ...(model === 'dall-e-3' ? { quality: 'standard' } : {}) }
}
