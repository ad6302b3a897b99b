import { logType } from '#core/statuses.ts'
import type { Tone } from '../../components/status.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

type Kind = { type: number; words: PlainText; tone: Tone }

/** What a row of the log is about, in the order of the filter. */
export const kinds: readonly Kind[] = [
  { type: logType.consume, words: text('消费'), tone: 'good' },
  { type: logType.error, words: text('错误'), tone: 'bad' },
  { type: logType.topUp, words: text('充值'), tone: 'accent' },
  { type: logType.manage, words: text('管理'), tone: 'neutral' },
  { type: logType.system, words: text('系统'), tone: 'neutral' },
  { type: logType.checkIn, words: text('签到'), tone: 'accent' },
]

const unknown: Kind = { type: logType.unknown, words: text('未知'), tone: 'neutral' }

export const kindOf = (type: number): Kind => kinds.find((kind) => kind.type === type) ?? unknown

/** Rows of an unknown type are read as calls. */
export const isCall = (type: number): boolean => type === logType.consume || type === logType.unknown
