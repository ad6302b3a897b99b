import { optionErrors } from './options.ts'
import { relayTaskErrors } from './relay-tasks.ts'
import { relayErrors } from './relay.ts'
import { schemaErrors } from './schema-errors.ts'
import { unsupportedErrors } from './unsupported.ts'

/** Everything the product can refuse, under the one code that names it at every route. */
export const errors = {
  ...schemaErrors,
  ...optionErrors,
  ...relayErrors,
  ...relayTaskErrors,
  ...unsupportedErrors,
} as const

export type ErrorCode = keyof typeof errors
