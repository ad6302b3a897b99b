import { Stack, Text } from '@chakra-ui/react'
import { t } from '../i18n/t.ts'
import { Money } from './cells/numbers.tsx'
import { windowWords } from './spend-caps.tsx'
import { Status, type Tone } from './status.tsx'

type Term = 'day' | 'week' | 'month' | 'year'
type Window = { period: 'rolling' | 'day' | 'week' | 'month'; seconds: number; zone: string; amount: number }

/** For how long a plan is sold. */
export function termWords({ term, termCount: count }: { term: Term; termCount: number }): string {
  switch (term) {
    case 'day':
      return t('{count} 天', { count })
    case 'week':
      return t('{count} 周', { count })
    case 'month':
      return t('{count} 个月', { count })
    case 'year':
      return t('{count} 年', { count })
  }
}

export const modelWords = (models: readonly string[]): string =>
  models.length === 0 ? t('所有模型') : models.join(', ')

/** What a plan pays within each of its windows. */
export function PlanWindows({ windows }: { windows: readonly Window[] }) {
  return (
    <Stack gap="0.5" textStyle="sm">
      {windows.map((window) => (
        <Text key={`${window.period} ${window.seconds} ${window.zone}`} as="span">
          {windowWords(window)} <Money quota={window.amount} />
        </Text>
      ))}
    </Stack>
  )
}

type State = 'active' | 'waiting' | 'expired' | 'cancelled' | 'refunded'

export const stateOfSubscription = ({
  status,
  isWaiting,
}: {
  status: Exclude<State, 'waiting'>
  isWaiting: boolean
}): State => (status === 'active' && isWaiting ? 'waiting' : status)

export function subscriptionWords(state: State): string {
  switch (state) {
    case 'active':
      return t('生效中')
    case 'waiting':
      return t('待生效')
    case 'expired':
      return t('已到期')
    case 'cancelled':
      return t('已取消')
    case 'refunded':
      return t('已退款')
  }
}

const tones: Record<State, Tone> = {
  active: 'good',
  waiting: 'accent',
  expired: 'neutral',
  cancelled: 'neutral',
  refunded: 'neutral',
}

/** How a subscription stands. */
export const SubscriptionStatus = ({ state }: { state: State }) => (
  <Status tone={tones[state]}>{subscriptionWords(state)}</Status>
)
