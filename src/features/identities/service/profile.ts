/** Who somebody is at a provider. */
export type Identity = {
  /** Never changes and is never given to anybody else; names do and are. */
  id: string
  /** Of an id that counts at one issuer: OIDC's, which is whatever the operator sets. */
  issuer?: string
}

/** What a provider says of a person who has proved there who they are. */
export type Profile = Identity & {
  displayName: string
  /** The name they would like here; counts only where nobody has it. */
  username?: string
  /** Only an address that the provider itself has verified. */
  verifiedEmail?: string
  /** Linux DO's; others have none. */
  trustLevel?: number
}

export type Fields = Record<string, unknown>

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The decimal text of a whole number that is no more than a double can count; "" for everything else. */
export const numericId = (value: unknown): string =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : ''

/** What may stand as a display name: in one line, without what cannot be seen, at most twenty characters. */
export const presentable = (name: string): string =>
  Array.from(name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim())
    .slice(0, 20)
    .join('')
    .trim()
