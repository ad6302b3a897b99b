import type { PlainText } from '../i18n/t.ts'
import { t, text } from '../i18n/t.ts'
import { Status, type Tone } from './status.tsx'

export type OrderState = 'pending' | 'processing' | 'paid' | 'refunded' | 'disputed' | 'expired' | 'failed'

const states: Record<OrderState, { tone: Tone; words: PlainText }> = {
  pending: { tone: 'warning', words: text('待支付') },
  processing: { tone: 'warning', words: text('支付处理中') },
  paid: { tone: 'good', words: text('已支付') },
  refunded: { tone: 'neutral', words: text('已退款') },
  disputed: { tone: 'bad', words: text('被拒付') },
  expired: { tone: 'neutral', words: text('已关闭') },
  failed: { tone: 'bad', words: text('支付失败') },
}

export const orderStateText = (status: OrderState): PlainText => states[status].words

/** How far an order is. */
export function OrderStatus({ status }: { status: OrderState }) {
  const { tone, words } = states[status]
  return <Status tone={tone}>{t(words)}</Status>
}

export const orderStates = Object.keys(states) as OrderState[]
