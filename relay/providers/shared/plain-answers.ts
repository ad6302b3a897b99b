import { DomainError } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import { isEmptyValue } from '#relay/chat/json.ts'
import { type PlainRequest, UpstreamRefusal } from '../types.ts'
import { refusalOf } from './failures.ts'
import { type Json, listOf, recordOf, recordsOf, textOf, withoutAbsent } from './json.ts'

/**
 * Lists of tokens are the original's own and mean nothing elsewhere.
 * @throws {DomainError} unsupported.token_input
 */
export function refuseTokens({ json }: PlainRequest): void {
  const tokens = listOf(json['input']).some((item) => typeof item === 'number' || Array.isArray(item))
  if (tokens) throw new DomainError('unsupported.token_input')
}

/**
 * Texts to embed, and nothing else.
 * @throws {DomainError} unsupported.token_input
 */
export function textsToEmbed({ json }: PlainRequest): string[] {
  const { input } = json
  const texts = typeof input === 'string' ? [input] : listOf(input)
  if (texts.every((text) => typeof text === 'string')) return texts as string[]
  throw new DomainError('unsupported.token_input')
}

/** A document that is only shown, and may be numbered; one that has any words beside is ranked by them. */
const isMedia = (document: unknown): boolean => {
  const { image, video, id: _, ...others } = recordOf(document) ?? {}
  const isShown = !isEmptyValue(image) || !isEmptyValue(video)
  return (
    isShown &&
    Object.values(others).every(
      (value) => isEmptyValue(value) || typeof value === 'number' || typeof value === 'boolean',
    )
  )
}

/** Documents to rank; texts may come as such or as objects with one. */
export const documentsToRank = ({ json }: PlainRequest): unknown[] =>
  listOf(json['documents']).map((item) =>
    isMedia(item) ? item : (textOf(item) ?? textOf(recordOf(item)?.['text']) ?? JSON.stringify(item)),
  )

/**
 * Texts to rank, and nothing else.
 * @throws {DomainError} unsupported.ranked_media
 */
export function documentTexts(asked: PlainRequest): string[] {
  const documents = documentsToRank(asked)
  if (documents.every((document) => typeof document === 'string')) return documents
  throw new DomainError('unsupported.ranked_media')
}

export const embeddingList = (vectors: readonly unknown[], asked: PlainRequest): Json => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: asked.json['model'],
})

/** Ranked documents in the common form; those that the caller wants to see again come from the request where need be. */
export function rerankList(rows: unknown, asked: PlainRequest): Json[] {
  const wanted = asked.json['return_documents'] === true
  const given = wanted ? documentsToRank(asked) : []
  return recordsOf(rows).map((row) => {
    const { index, relevance_score: score, document } = row
    const own = textOf(document) ?? textOf(recordOf(document)?.['text']) ?? (isMedia(document) ? document : undefined)
    const shown = own ?? given[Number(index)]
    return withoutAbsent({
      index,
      relevance_score: score,
      document: typeof shown === 'string' ? { text: shown } : shown,
    })
  })
}

/** @throws {UpstreamRefusal} when a 2xx body says that it is a failure. */
export function readSuccess(json: unknown): Json {
  const answer = recordOf(json) ?? {}
  const refusal = refusalOf(answer)
  if (refusal) throw new UpstreamRefusal(refusal)
  return answer
}

export const promptOnly = (tokens: number | undefined): ReportedUsage | undefined =>
  tokens === undefined ? undefined : { promptTokens: tokens }

/** What a call for images says of their number to a vendor that draws no more than so many at once. */
export function atMostImages(n: unknown, most: number): { mostImages: number; losses: string[] } {
  return { mostImages: most, losses: Number(n ?? 1) > most ? ['n'] : [] }
}

/** Width and height of a size like `1024x1792`. */
export function sidesOf(size: unknown): { width: number; height: number } | undefined {
  const [, width, height] = /^(\d+)[x*](\d+)$/.exec(textOf(size) ?? '') ?? []
  return width === undefined || height === undefined ? undefined : { width: Number(width), height: Number(height) }
}

/** The sides of the same shape with as many pixels as there may be; nothing for a size that is none. */
export function sidesWithin(
  size: unknown,
  [fewest, most]: readonly [number, number],
): { width: number; height: number } | undefined {
  const sides = sidesOf(size)
  const pixels = sides ? sides.width * sides.height : 0
  if (!sides || pixels === 0) return undefined
  const factor = Math.sqrt(Math.min(Math.max(pixels, fewest), most) / pixels)
  const round = factor > 1 ? Math.ceil : Math.floor
  return { width: round(sides.width * factor), height: round(sides.height * factor) }
}

/** The shape among those a vendor draws that is nearest to a size; nothing for a size that is none. */
export function nearestRatio(size: unknown, ratios: readonly string[]): string | undefined {
  const sides = sidesOf(size)
  if (!sides || sides.width === 0 || sides.height === 0) return undefined
  const wanted = Math.log(sides.width / sides.height)
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number)
    return Math.abs(Math.log(width / height) - wanted)
  }
  return ratios.toSorted((left, right) => distance(left) - distance(right))[0]
}
