import { accountErrors } from './accounts.ts'
import { businessErrors } from './business.ts'
import { generalErrors } from './general.ts'
import { optionErrors } from './options.ts'
import { relayTaskErrors } from './relay-tasks.ts'
import { relayErrors } from './relay.ts'
import { unsupportedErrors } from './unsupported.ts'

/** Everything the product can refuse, under the one code that names it at every route. */
export const errors = {
  ...generalErrors,
  ...accountErrors,
  ...businessErrors,
  ...optionErrors,
  ...relayErrors,
  ...relayTaskErrors,
  ...unsupportedErrors,
} as const

export type ErrorCode = keyof typeof errors
