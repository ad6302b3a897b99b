import type { Tone } from '../../components/status.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { contentText, detailsOf, failureText } from './details.ts'
import { isCall, kindOf } from './kinds.ts'
import { logType } from '#core/statuses.ts'
import type { LogRow } from './use-logs.ts'

type State = { tone: Tone; words: string; reason?: string | undefined }

/** How a call ended; for other rows what they are about. */
export function stateOf(log: LogRow): State {
  const details = detailsOf(log)
  const kind = kindOf(log.type)
  if (log.type === logType.error) {
    return { tone: 'bad', words: [t('错误'), details.status_code].filter(Boolean).join(' '), reason: contentText(log) }
  }
  if (!isCall(log.type)) return { tone: kind.tone, words: t(kind.words) }
  if (details.end === 'hung-up') return { tone: 'warning', words: t('客户端断开') }
  if (details.end === 'unpaid') return { tone: 'warning', words: t('额度用尽') }
  if (details.end === 'failed')
    return { tone: 'bad', words: t('中途出错'), reason: failureText(details.failure ?? '', details.refusal) }
  if (log.promptTokens + log.completionTokens === 0 && log.quota === 0) return { tone: 'neutral', words: t('没有用量') }
  return { tone: 'good', words: t('成功') }
}

export function StateCell({ log }: { log: LogRow }) {
  const { tone, words, reason } = stateOf(log)
  return (
    <Status tone={tone} tip={reason}>
      {words}
    </Status>
  )
}

const second = 1000

/** Complete answers may take minutes; the first word may not. */
export const totalTone = (milliseconds: number): Tone =>
  milliseconds < 101 * second ? 'good' : milliseconds < 300 * second ? 'warning' : 'bad'

export const firstTokenTone = (milliseconds: number): Tone =>
  milliseconds < 3 * second ? 'good' : milliseconds < 10 * second ? 'warning' : 'bad'
