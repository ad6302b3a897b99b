import type { SchemaErrorCode } from './errors/schema-errors.ts'

/** A schema rule's message is the code of its refusal, so that every route and every form can say it in either language. */
export const refusal = (code: SchemaErrorCode): SchemaErrorCode => code
