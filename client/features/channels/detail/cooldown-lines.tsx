import { Text } from '@chakra-ui/react'
import { t } from '../../../i18n/t.ts'
import { formatDuration, formatExactTime } from '../../../lib/format.ts'
import { useNow } from '../../../lib/now.ts'
import type { Cooldown } from '../list/use-cooldowns.ts'

type CooldownLinesProps = { cooldowns: readonly Cooldown[]; nameOf: (cooldown: Cooldown) => string }

/** One line for each cooldown: of what, for how long still, and what the upstream answered last. */
export function CooldownLines({ cooldowns, nameOf }: CooldownLinesProps) {
  const now = useNow().getTime()
  return cooldowns.map((cooldown) => {
    const { key, model, until, status, reason } = cooldown
    const left = formatDuration(Math.max(0, until.getTime() - now))
    return (
      <Text
        key={`${key}:${model}`}
        textStyle="xs"
        color="fg.muted"
        overflowWrap="anywhere"
        mt="1"
        data-tip={formatExactTime(until)}
      >
        {t('{name} 冷却中，还有 {left} · {status} {reason}', { name: nameOf(cooldown), left, status, reason })}
      </Text>
    )
  })
}
