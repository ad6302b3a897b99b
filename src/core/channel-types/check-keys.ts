import type { Problem } from '../errors.ts'

/** How many parts a credential may have, and how they are written, for the types that join several into one text. */
const joinedParts = new Map<number, { counts: readonly number[]; format: string }>([
  [15, { counts: [2], format: 'APIKey|SecretKey' }],
  [18, { counts: [3, 1], format: 'APPID|APISecret|APIKey' }],
  [23, { counts: [3, 1], format: 'AppId|SecretId|SecretKey' }],
  [33, { counts: [3, 2], format: 'AccessKeyId|SecretAccessKey|Region' }],
  [39, { counts: [1, 2], format: 'AccountId|ApiToken' }],
  [46, { counts: [1, 2], format: 'APIKey|AppId' }],
])

/** Of these types the last part becomes part of a host name. */
const regionLast = new Set([33])
const region = /^[a-z0-9-]+$/

/** Signed with what stands behind the dot. */
const dotted = new Set([16])

const serviceAccountType = 41
const serviceAccountFields = ['client_email', 'private_key', 'project_id']

/** Credentials travel in headers and addresses: printable ASCII only. */
const printable = /^[\x20-\x7e]+$/

/** What is wrong with the credentials of a channel, as they come from `splitKeys`. */
export function checkKeys(type: number, keys: readonly string[]): Problem | undefined {
  if (keys.length === 0) return { code: 'channel.key_required' }
  for (const key of keys) {
    const format = key.startsWith('{') ? checkJson(type, key) : checkText(type, key)
    if (format !== undefined) return { code: 'channel.key_invalid', params: { format } }
  }
  return undefined
}

function checkText(type: number, key: string): string | undefined {
  if (!printable.test(key)) return 'ASCII'
  if (dotted.has(type)) return /^[^.]+\.[^.]+$/.test(key) ? undefined : 'id.secret'
  const joined = joinedParts.get(type)
  if (!joined) return undefined
  const parts = key.split('|').map((part) => part.trim())
  if (!joined.counts.includes(parts.length) || !parts.every((part) => part !== '')) return joined.format
  return regionLast.has(type) && !region.test(parts.at(-1) ?? '') ? joined.format : undefined
}

/** Only the service account is looked into; what else begins with a brace is its provider's affair. */
function checkJson(type: number, key: string): string | undefined {
  if (type !== serviceAccountType) return undefined
  const format = `JSON: ${serviceAccountFields.join(', ')}`
  try {
    const account: unknown = JSON.parse(key)
    const isComplete = serviceAccountFields.every((field) => typeof Object(account)[field] === 'string')
    return isComplete ? undefined : format
  } catch {
    return format
  }
}
