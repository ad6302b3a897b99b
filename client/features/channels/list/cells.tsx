import { HStack, chakra } from '@chakra-ui/react'
import { channelStatus } from '#core/statuses.ts'
import { Duration, None } from '../../../components/cells/numbers.tsx'
import { Status, type Tone } from '../../../components/status.tsx'
import { t } from '../../../i18n/t.ts'
import { formatExactTime, formatPercent } from '../../../lib/format.ts'
import { logText } from '../../../lib/log-text.ts'
import { isUnpriced, type Probe } from '../tests/result-cache.ts'
import { responseStep } from './response-step.ts'
import type { Channel } from './rows.ts'
import type { Cooldown } from './use-cooldowns.ts'

type StatusLike = Pick<Channel, 'status' | 'statusReason' | 'statusAt'>

const reasonTip = ({ statusReason, statusAt }: StatusLike): string | undefined =>
  [
    statusReason && t('原因：{reason}', { reason: statusReason }),
    statusAt && t('时间：{time}', { time: formatExactTime(statusAt) }),
  ]
    .filter(Boolean)
    .join('\n') || undefined

const mostCooldowns = 6

const cooldownTip = (cooldowns: readonly Cooldown[]): string =>
  [
    ...cooldowns.slice(0, mostCooldowns).map(({ key, model, until, status, reason }) => {
      const place = t('密钥 {number} 的 {model} 冷却至 {time}', {
        number: key + 1,
        model,
        time: formatExactTime(until),
      })
      return `${place}\n${status}: ${reason}`
    }),
    cooldowns.length > mostCooldowns ? t('共 {count} 处', { count: cooldowns.length }) : '',
  ]
    .filter(Boolean)
    .join('\n')

/** What is in a cooldown after failures, which ends by itself. */
export function CoolingDown({ cooldowns }: { cooldowns: readonly Cooldown[] }) {
  return (
    <Status tone="warning" tip={cooldownTip(cooldowns)}>
      {t('冷却中')}
    </Status>
  )
}

export function statusText(status: number): string {
  if (status === channelStatus.enabled) return t('已启用')
  if (status === channelStatus.disabled) return t('已禁用')
  return status === channelStatus.autoDisabled ? t('自动禁用') : t('未知状态')
}

const tones: Record<number, Tone> = {
  [channelStatus.enabled]: 'good',
  [channelStatus.disabled]: 'neutral',
  [channelStatus.autoDisabled]: 'bad',
}

type ChannelStatusProps = { of: StatusLike; cooldowns?: readonly Cooldown[] | undefined }

/** The state of a channel or of one of its keys; who was switched off automatically says why and when. */
export function ChannelStatus({ of, cooldowns = [] }: ChannelStatusProps) {
  const { status } = of
  if (status === channelStatus.enabled && cooldowns.length > 0) return <CoolingDown cooldowns={cooldowns} />
  return (
    <Status tone={tones[status] ?? 'warning'} tip={status === channelStatus.autoDisabled ? reasonTip(of) : undefined}>
      {statusText(status)}
    </Status>
  )
}

/** Bars that shorten as a channel slows down. */
const Bars = chakra('svg', {
  base: { w: '3.5', h: '3', flexShrink: '0' },
  variants: {
    step: {
      0: { color: 'good.mark' },
      1: { color: 'chart.5' },
      2: { color: 'warning.mark' },
      3: { color: 'bad.mark' },
    },
  },
})

export function ResponseTime({ milliseconds, testedAt }: { milliseconds: number; testedAt?: Date | null }) {
  if (milliseconds === 0) return <chakra.span color="fg.subtle">{t('未测试')}</chakra.span>
  const step = responseStep(milliseconds)
  return (
    <HStack
      as="span"
      display="inline-flex"
      gap="1.5"
      data-tip={testedAt ? t('测试于 {time}', { time: formatExactTime(testedAt) }) : undefined}
    >
      <Bars step={step} viewBox="0 0 14 12" aria-hidden>
        {[0, 1, 2, 3].map((bar) => (
          <rect
            key={bar}
            x={bar * 3.6}
            y={9 - bar * 3}
            width="2.6"
            height={3 + bar * 3}
            rx="0.6"
            fill="currentColor"
            opacity={bar < 4 - step ? 1 : 0.22}
          />
        ))}
      </Bars>
      <Duration milliseconds={milliseconds} />
    </HStack>
  )
}

const shownProbes = 12
/** As high before the probes have arrived as afterwards: a card of a phone does not grow. */
const Health = chakra('span', {
  base: { display: 'inline-flex', alignItems: 'center', gap: '2', h: '5', verticalAlign: 'top' },
})
const Strip = chakra('svg', { base: { h: '4', w: '12', flexShrink: '0', overflow: 'visible' } })
const Mark = chakra('rect', {
  variants: {
    good: {
      true: { fill: 'good.mark' },
      false: { fill: 'bad.mark' },
    },
  },
})

const Blank = chakra('rect', { base: { fill: 'border' } })

const Blanks = ({ count }: { count: number }) =>
  Array.from({ length: count }, (_, index) => (
    <Blank key={index} x={index * 3.9} y="13" width="2.8" height="2" rx="0.8" />
  ))

/**
 * The last probes that were sent, the newest at the right: tall and green went well, short and red failed; dots where none was made
 * yet.
 */
export function HealthStrip({ probes }: { probes: readonly Probe[] | undefined }) {
  const sent = probes?.filter(({ message }) => !isUnpriced(message))
  if (!sent) {
    return (
      <Health>
        <Strip viewBox="0 0 46 16" aria-hidden>
          <Blanks count={shownProbes} />
        </Strip>
      </Health>
    )
  }
  if (sent.length === 0) {
    return (
      <Health>
        <None />
      </Health>
    )
  }
  const shown = sent.slice(0, shownProbes).toReversed()
  const failures = shown.filter((probe) => !probe.success)
  const lastFailure = failures.at(-1)
  const words = t('最近 {count} 次测试，失败 {failed} 次', { count: shown.length, failed: failures.length })
  const tip = lastFailure ? `${words}\n${lastFailure.model}: ${logText(lastFailure.message).slice(0, 200)}` : words
  return (
    <Health data-tip={tip}>
      <Strip viewBox="0 0 46 16" role="img" aria-label={words}>
        <Blanks count={shownProbes - shown.length} />
        {shown.map((probe, index) => (
          <Mark
            key={probe.id}
            good={probe.success}
            x={(shownProbes - shown.length + index) * 3.9}
            y={probe.success ? 1 : 8}
            width="2.8"
            height={probe.success ? 14 : 7}
            rx="0.8"
          />
        ))}
      </Strip>
      <chakra.span color={failures.length > 0 ? 'fg' : 'fg.muted'}>
        {formatPercent(1 - failures.length / shown.length, 0)}
      </chakra.span>
    </Health>
  )
}
