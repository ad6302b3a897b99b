import { type Fields, isObject } from '#relay/chat/json.ts'
import { readerFor } from '../read.ts'
import { bothSpellings, pick } from './fields.ts'
import { type MediaPart, readMedia, readParts } from './contents.ts'

const code = 'invalid_gemini_request'
const read = readerFor(code)

/** One content, or a list of requests with one content each. */
export const embedActions = ['embedContent', 'batchEmbedContents'] as const
export type EmbedAction = (typeof embedActions)[number]

export type EmbedCall = {
  /** The call in the form of OpenAI's embeddings, without a model: that stands in the path. */
  json: Fields
  /** Fields that the other form has no place for. */
  losses: string[]
  /** What the other form cannot say at all, and what must not be dropped silently. */
  untranslatable: string | undefined
  /** What is to be embedded beside its texts. */
  media: MediaPart[]
}

const known = bothSpellings(['model', 'content', 'outputDimensionality'])

type Input = {
  text: string
  media: string | undefined
  parts: MediaPart[]
  dimensions: number | undefined
  losses: string[]
}

function readInput(request: unknown, path: string): Input {
  if (!isObject(request)) throw read.invalid(path === '' ? 'request body' : path)
  const at = path === '' ? '' : `${path}.`
  const content = read.object(request['content'], `${at}content`)
  const parts = readParts(content?.['parts'], `${at}content.parts`, read)
  if (parts.length === 0) throw read.required(`${at}content`)
  const media = parts.flatMap((part) => Object.keys(part).filter((name) => name !== 'text'))
  return {
    text: parts.map((part) => read.text(part['text'], `${at}content.parts.text`) ?? '').join('\n'),
    media: media[0],
    parts: parts.flatMap((part) => readMedia(part, read) ?? []),
    dimensions: read.integer(pick(request, 'outputDimensionality'), `${at}outputDimensionality`, [1, 1_000_000]),
    losses: Object.keys(request).filter((name) => !known.has(name)),
  }
}

function inputsOf(action: EmbedAction, body: Fields): Input[] {
  if (action === 'embedContent') return [readInput(body, '')]
  const requests = read.list(body['requests'], 'requests') ?? []
  if (requests.length === 0) throw read.required('requests')
  return requests.map((request, index) => readInput(request, `requests[${index}]`))
}

/**
 * Body of `embedContent` and `batchEmbedContents` → the form of OpenAI's embeddings.
 * @throws {InvalidRequest} when there is nothing to embed.
 */
export function parseEmbed(action: EmbedAction, value: unknown): EmbedCall {
  const inputs = inputsOf(action, read.body(value))
  const [first] = inputs
  const isMixed = inputs.some(({ dimensions }) => dimensions !== first?.dimensions)
  return {
    json: {
      input: inputs.map(({ text }) => text),
      ...(first?.dimensions === undefined ? {} : { dimensions: first.dimensions }),
    },
    losses: [...new Set(inputs.flatMap(({ losses }) => losses))],
    untranslatable: inputs.find(({ media }) => media)?.media ?? (isMixed ? 'outputDimensionality' : undefined),
    media: inputs.flatMap((input) => input.parts),
  }
}

const place = (row: Fields, index: number): number => (typeof row['index'] === 'number' ? row['index'] : index)

/** An answer in the form of OpenAI's embeddings → the answer to the action. Vectors are lists of numbers by now. */
export function encodeEmbed(action: EmbedAction, answer: unknown): unknown {
  const fields = isObject(answer) ? answer : {}
  const rows = Array.isArray(fields['data']) ? fields['data'].filter(isObject) : []
  const vectors = rows
    .map((row, index) => ({ at: place(row, index), values: row['embedding'] }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ values }) => ({ values }))
  const usage = isObject(fields['usage']) ? fields['usage'] : {}
  const count = usage['prompt_tokens']
  const counted = typeof count === 'number' ? { usageMetadata: { promptTokenCount: count } } : {}
  return action === 'embedContent'
    ? { embedding: vectors[0] ?? { values: [] }, ...counted }
    : { embeddings: vectors, ...counted }
}
