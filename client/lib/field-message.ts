import { schemaErrors, type SchemaErrorCode } from '#core/errors/schema-errors.ts'
import { inLanguage, translatedError } from '../i18n/t.ts'

const isSchemaError = (message: string): message is SchemaErrorCode => Object.hasOwn(schemaErrors, message)

/** What a field is refused for: a code of the error catalogue, as the server's schemas name it, or a sentence. */
export const fieldMessage = (message: string): string =>
  isSchemaError(message) ? (translatedError(message) ?? schemaErrors[message].message) : inLanguage(message)
