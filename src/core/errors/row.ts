export const kinds = [
  'unauthenticated',
  'forbidden',
  'not_found',
  'invalid',
  'conflict',
  'rate_limited',
  'quota_exhausted',
  'upstream',
  'unavailable',
  'internal',
] as const
export type Kind = (typeof kinds)[number]

/** `{name}` in the message is a parameter. `status` and `wire` stand only where a wire format fixes them. */
export type ErrorRow = { kind: Kind; message: string; status?: number; wire?: string }

export type ErrorRows = Record<string, ErrorRow>
