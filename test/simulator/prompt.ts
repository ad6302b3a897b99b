import { createHash } from 'node:crypto'

export type Schema = Record<string, unknown>

/** A chat call reduced to what shapes the answer; every dialect is read into it. */
export type Prompt = {
  model: string
  stream: boolean
  /** The last text a user wrote. */
  text: string
  system: string
  /** Sentences about the images and files of the last user turn. */
  media: string[]
  tools: { name: string; schema: Schema }[]
  toolChoice: { mode: 'auto' | 'none' | 'required'; name?: string | undefined }
  /** Texts of the tool results, when they are the last turn. */
  toolResults: string[]
  thinking: boolean
  json: Schema | undefined
  maxTokens: number | undefined
  stop: string[]
  choices: number
  /** All text of the call, for counting. */
  characters: number
}

/** What the vendor says when it does not like a request. */
export type Failure = {
  status: number
  message: string
  type?: string | undefined
  code?: string | number | null | undefined
  param?: string | null | undefined
}

export class Refusal extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

export const refuse = (message: string, param: string | null = null): never => {
  throw new Refusal({ status: 400, message, param })
}

const fingerprint = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

export function describeBytes(kind: string, mediaType: string, base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  return `${kind} ${mediaType} ${bytes.length} bytes sha256 ${fingerprint(bytes)}.`
}

/** `data:` addresses are described by their bytes, others by themselves. */
export function describeAddress(kind: string, address: string): string {
  const match = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(address)
  return match ? describeBytes(kind, match[1] ?? '', match[2] ?? '') : `${kind} at ${address}.`
}

export type Json = Record<string, unknown>

/** Whether a user says something beside results of tools; what programs add to them by themselves is no question. */
export const asksBeside = (texts: readonly string[]): boolean =>
  texts.some((text) => text !== '' && !/^<system-reminder>|tool result:$/.test(text))

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asObjects = (value: unknown): Json[] => asList(value).map(asObject)
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
export const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
export const asTexts = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : asList(value).filter((item) => typeof item === 'string')

/**
 * Length of every text inside a JSON value. Roles and type names do not count, so that dialects agree; base64 payloads
 * count like any other text, which is good enough here.
 */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  for (const [name, item] of Object.entries(value)) if (name !== 'role' && name !== 'type') sum += charactersOf(item)
  return sum
}
