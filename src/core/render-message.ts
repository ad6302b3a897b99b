import { englishMessages } from './errors.en.ts'
import { type Language, messageOf, type Problem } from './errors.ts'

/** A refusal in either language. Apart from the catalogue, since the console fetches English only for those who read it. */
export const renderMessage = (error: Problem, language: Language): string =>
  messageOf(error, language === 'en' ? englishMessages[error.code] : undefined)
