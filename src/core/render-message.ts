import { englishMessages } from './errors.en.ts'
import { type Language, messageOf, type Problem } from './errors.ts'

/** A refusal in either language. Apart from the catalogue, since the console fetches English only for those who read it. */
export const renderMessage = (error: Problem, language: Language): string =>
  language === 'en' ? messageOf(withoutLabels(error), englishMessages[error.code]) : messageOf(error)

/** The label of an option is Chinese, its English a text of the screens: programs know options by their keys. */
function withoutLabels({ code, params = {} }: Problem): Problem {
  const { key, label, requiredKeys } = params
  return {
    code,
    params: {
      ...params,
      ...(key === undefined || label === undefined ? {} : { label: key }),
      ...(requiredKeys === undefined ? {} : { required: String(requiredKeys).replaceAll(',', ', ') }),
    },
  }
}
