import { chakra } from '@chakra-ui/react'
import { CloudDownload } from 'lucide-react'
import type { RouterOutputs } from '#server/app-router.ts'
import { t } from '../../../i18n/t.ts'
import { formatExactTime } from '../../../lib/format.ts'
import { useIsPhone } from '../../../lib/use-media.ts'

export type Drift = RouterOutputs['admin']['channels']['drifts'][number]

const Mark = chakra('span', {
  base: { flexShrink: '0', textStyle: 'xs', fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' },
})

const mostNamed = 10

/** How many models the upstream lists beyond a channel's own, and how many it lists no more; nothing where they agree. */
export function DriftMark({ drift }: { drift: Drift | undefined }) {
  const phone = useIsPhone()
  if (!drift || drift.added.length + drift.gone.length === 0) return null
  const { added, gone, checkedAt } = drift
  const lines = [
    t('与上游的模型列表不同，比对于 {time}', { time: formatExactTime(checkedAt) }),
    ...added.slice(0, mostNamed).map((model) => `+ ${model}`),
    ...gone.slice(0, mostNamed).map((model) => `− ${model}`),
  ]
  const words = t('上游新增 {added} 个模型，减少 {gone} 个', { added: added.length, gone: gone.length })
  // The card around it is a button, whose name is what can be read in it.
  if (phone) {
    return (
      <Mark role="img" aria-label={words} color={gone.length > 0 ? 'warning.fg' : 'fg.muted'}>
        <CloudDownload size={13} aria-hidden />
      </Mark>
    )
  }
  // What is not served any more fails calls; what could be served besides is no problem.
  return (
    <Mark role="img" aria-label={words} data-tip={lines.join('\n')}>
      {gone.length > 0 && <chakra.span color="warning.fg">{`−${gone.length} `}</chakra.span>}
      {added.length > 0 && <chakra.span color="fg.muted">{`+${added.length}`}</chakra.span>}
    </Mark>
  )
}
