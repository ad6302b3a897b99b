import { isErrorCode } from '#core/errors.ts'
import { refusalText } from '../i18n/refusal-text.ts'
import { inLanguage } from '../i18n/t.ts'

/** What a field is refused for: a code of the error catalogue, as the server's schemas name it, or a sentence. */
export const fieldMessage = (message: string): string =>
  isErrorCode(message) ? refusalText({ code: message }) : inLanguage(message)
