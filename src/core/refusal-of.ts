import { type ErrorCode, isErrorCode } from './errors.ts'

/** What a schema's refusal is called: the first rule that names a code. */
export const refusalOf = (issues: readonly { message: string }[]): ErrorCode | undefined =>
  issues.map((issue) => issue.message).find(isErrorCode)
