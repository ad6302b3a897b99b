import { fill, inLanguage } from '../i18n/t.ts'
import { formatTime } from './format.ts'

type Result = { text: string; params: Readonly<Record<string, string | number>> }

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** What a job says of its run, in the reader's language; a moment in it is in their zone, as every other time is. */
export const jobResultText = ({ text, params }: Result): string =>
  fill(
    inLanguage(text),
    Object.fromEntries(
      Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'string' && moment.test(value) ? formatTime(new Date(value)) : value,
      ]),
    ),
  )
