import { channelTypeOf } from '../channel-types/index.ts'

/** What a channel is entrusted with, and its users are not. */
export type ChannelSecrets = {
  type: number
  key: string
  /** Masked together with its host, which is as telling. Absent where the reader may know the address. */
  baseUrl?: string | undefined
  /** The short-lived token that stands for the key. */
  token?: string | undefined
  /** The proxy's address, for the password in it. */
  proxy?: string | undefined
}

/** Shorter parts are numbers and ordinary words more often than secrets. */
const shortestPart = 8

/** Fields of a credentials file that are the same for everybody, or an address. */
const publicFields = new Set(['type', 'universe_domain', 'quota_project_id', 'token_type', 'scope', 'account_type'])
const region = /^[a-z]{2,}(-[a-z0-9]+)+$/

/**
 * The texts in a key that are secret by themselves: what stands between its separators, the values of a credentials
 * file. Regions and other short words among them are not.
 */
export function secretParts(type: number, key: string): string[] {
  const trimmed = key.trim()
  if (trimmed.startsWith('{')) {
    const values = valuesOf(trimmed)
    if (values) return values.filter(isLong)
  }
  const format = channelTypeOf(type)
  const parts = trimmed.split('|').map((part) => part.trim())
  if (parts.length > 1 && format?.keyParts.includes('region') && region.test(parts.at(-1) ?? '')) parts.pop()
  const separator = format?.keyFormat === 'dot' ? '.' : format?.keyFormat === 'dash' ? '-' : undefined
  const inner = separator === undefined ? [] : parts.flatMap((part) => part.split(separator))
  return [...new Set([...parts, ...inner])].filter(isLong)
}

const isLong = (part: string): boolean => part.length >= shortestPart

function valuesOf(text: string): string[] | undefined {
  try {
    return stringsIn(JSON.parse(text))
  } catch {
    return undefined
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('https://') ? [] : [value, ...linesOf(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => (publicFields.has(name) ? [] : stringsIn(inner)))
}

/** A private key is quoted line by line as often as whole; its first and last line are the same for everybody. */
const linesOf = (text: string): string[] =>
  text.includes('\n') ? text.split('\n').filter((line) => !line.startsWith('-----')) : []

/** The forms in which an address names its channel, and the password that one may carry. */
export function addressParts({ baseUrl = '', proxy = '' }: Pick<ChannelSecrets, 'baseUrl' | 'proxy'>): string[] {
  const found: string[] = []
  if (baseUrl !== '') found.push(baseUrl)
  if (/^https?:/.test(baseUrl) && URL.canParse(baseUrl)) {
    const { origin, host, hostname } = new URL(baseUrl)
    found.push(origin, host, hostname, ...passwordsIn(baseUrl))
  }
  return [...found, ...passwordsIn(proxy)]
}

function passwordsIn(address: string): string[] {
  if (!URL.canParse(address)) return []
  const { username, password } = new URL(address)
  // A name without a password is a token.
  const secret = password || username
  if (secret === '') return []
  try {
    return [secret, decodeURIComponent(secret)]
  } catch {
    return [secret]
  }
}
