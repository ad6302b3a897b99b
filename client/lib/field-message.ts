import { isErrorCode, renderMessage } from '#core/errors.ts'
import { currentLanguage } from '../i18n/language.ts'
import { inLanguage } from '../i18n/t.ts'

/** What a field is refused for: a code of the error catalogue, as the server's schemas name it, or a sentence. */
export const fieldMessage = (message: string): string =>
  isErrorCode(message) ? renderMessage({ code: message }, currentLanguage()) : inLanguage(message)
