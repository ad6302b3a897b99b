import { tokenStatus } from '#core/statuses.ts'
import type { PlainText } from '../i18n/t.ts'
import { text } from '../i18n/t.ts'
import type { Tone } from './status.tsx'

type Token = { status: number; expiresAt: Date | null }
type State = { tone: Tone; words: PlainText }

const states: Record<number, State> = {
  [tokenStatus.enabled]: { tone: 'good', words: text('已启用') },
  [tokenStatus.disabled]: { tone: 'neutral', words: text('已禁用') },
  [tokenStatus.expired]: { tone: 'warning', words: text('已过期') },
  [tokenStatus.exhausted]: { tone: 'bad', words: text('已耗尽') },
}

const unknown: State = { tone: 'neutral', words: text('未知状态') }
const expired: State = { tone: 'warning', words: text('已过期') }

/** A token that nobody has called since it expired is still enabled in the table; it is shown as what it is. */
export function tokenStateOf(token: Token, now: Date): State {
  const isOver = token.expiresAt !== null && token.expiresAt <= now
  if (token.status === tokenStatus.enabled && isOver) return expired
  return states[token.status] ?? unknown
}
