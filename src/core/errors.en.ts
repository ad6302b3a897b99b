import { accountEnglish } from './errors/accounts.en.ts'
import { businessEnglish } from './errors/business.en.ts'
import { generalEnglish } from './errors/general.en.ts'
import { optionEnglish } from './errors/options.en.ts'
import { relayTaskEnglish } from './errors/relay-tasks.en.ts'
import { relayEnglish } from './errors/relay.en.ts'
import { unsupportedEnglish } from './errors/unsupported.en.ts'
import type { ErrorCode } from './errors/catalogue.ts'

/** The compiler refuses a code without its English. */
export const englishMessages: Record<ErrorCode, string> = {
  ...generalEnglish,
  ...accountEnglish,
  ...businessEnglish,
  ...optionEnglish,
  ...relayEnglish,
  ...relayTaskEnglish,
  ...unsupportedEnglish,
}
