import { messageOf, type Problem } from '#core/errors.ts'
import { translatedError } from './t.ts'

/** A refusal in the reader's language, from its code and parameters. */
export const refusalText = (problem: Problem): string => messageOf(problem, translatedError(problem.code))
