import { accountErrors } from './accounts.ts'
import { businessErrors } from './business.ts'
import { generalErrors } from './general.ts'

/** The files of whose rows the rules of schemas name refusals: all of the catalogue that a form says by itself, and that its page is sent for. */
export const schemaErrors = { ...generalErrors, ...accountErrors, ...businessErrors } as const

export type SchemaErrorCode = keyof typeof schemaErrors
