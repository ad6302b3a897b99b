import { type ErrorCode, isErrorCode } from './errors.ts'

/** A schema rule's message is the code of its refusal, so that every route and every form can say it in either language. */
export const refusal = (code: ErrorCode): ErrorCode => code

/** What a schema's refusal is called: the first rule that names a code. */
export const refusalOf = (issues: readonly { message: string }[]): ErrorCode | undefined =>
  issues.map((issue) => issue.message).find(isErrorCode)
