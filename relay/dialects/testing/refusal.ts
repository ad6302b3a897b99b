import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import type { CallerDialect } from '../types.ts'

/** What a dialect refuses a body with, as `code: message`. */
export function refusalOf(
  { parse }: Pick<CallerDialect, 'parse'>,
  body: unknown,
  path: Parameters<CallerDialect['parse']>[1] = {},
) {
  try {
    parse(body, path)
  } catch (error) {
    if (error instanceof InvalidRequest) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}
