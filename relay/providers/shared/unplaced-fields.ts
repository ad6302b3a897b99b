import type { Json } from './json.ts'

/** An answer that comes in one piece is made the stream that was asked for, and vectors are packed here as well. */
const isMadeHere = (name: string, value: unknown): boolean =>
  name === 'stream' || name === 'stream_format' || (name === 'embedding_type' && value === 'base64')

/** `size`, where the vendor was given a shape for it, or none in particular is wanted. */
export const placedSize = ({ size }: Json, shape: unknown): string[] =>
  shape !== undefined || size === 'auto' ? ['size'] : []

/** Names of what a body says and the vendor has no field for. */
export const unplacedFields = (json: Json, placed: readonly string[]): string[] =>
  Object.entries(json).flatMap(([name, value]) =>
    placed.includes(name) || isMadeHere(name, value) || (value ?? null) === null ? [] : [name],
  )
