import { Box, Flex, SimpleGrid, Skeleton } from '@chakra-ui/react'
import { logType } from '#core/statuses.ts'
import { Count, Duration, Money, None } from '../../components/cells/numbers.tsx'
import type { StatTileProps } from '../../components/stat-tile.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import { abbreviate, formatDuration, formatPercent, priceText, quotaText } from '../../lib/format.ts'
import { costText, marginOf, revenueOf } from '../../lib/margin.ts'
import type { Overview, Totals } from './use-stats.ts'

type LogLink = (narrow: { type: number }) => string

/** One number in both periods: null where nothing was measured. */
type Measure = {
  label: string
  of: (totals: Totals) => number | null
  words: (value: number) => string
  show?: (value: number) => StatTileProps['value']
  better?: 'up' | 'down'
  isShare?: boolean
  tip?: (totals: Totals) => string
  /** The log of what it counts, where there is any. */
  href?: string
  counted?: (totals: Totals) => number
}

const callsOf = ({ calls }: Totals): number => calls

const tokensOf = (totals: Totals): number => totals.promptTokens + totals.completionTokens

/** Of all calls; attempts that failed before another channel answered are distinguished. */
const errorShare = ({ errors, calls }: Totals): number | null =>
  errors + calls === 0 ? null : errors / (errors + calls)

const measuresOf = (logLink: LogLink): Measure[] => {
  const calls = logLink({ type: logType.consume })
  return [
    {
      label: t('消费'),
      of: ({ quota }) => quota,
      words: (quota) => quotaText(quota),
      show: (quota) => <Money quota={quota} />,
      href: calls,
    },
    {
      label: t('调用次数'),
      of: ({ calls: count }) => count,
      words: abbreviate,
      show: (n) => <Count value={n} />,
      href: calls,
    },
    { label: t('Token 数'), of: tokensOf, words: abbreviate, show: (n) => <Count value={n} /> },
    {
      label: t('缓存命中'),
      of: ({ cachedShare }) => cachedShare,
      words: (share) => formatPercent(share),
      better: 'up',
      isShare: true,
    },
    {
      label: t('错误率'),
      of: errorShare,
      words: (share) => formatPercent(share),
      better: 'down',
      isShare: true,
      tip: ({ failedAttempts }) => t('失败的尝试 {count} 次', { count: abbreviate(failedAttempts) }),
      href: logLink({ type: logType.error }),
      counted: ({ errors }) => errors,
    },
    {
      label: t('平均首字用时'),
      of: ({ firstTokenMs }) => firstTokenMs,
      words: formatDuration,
      show: (ms) => <Duration milliseconds={ms} />,
      better: 'down',
    },
  ]
}

const costsOf = ({ cost = 0, costedQuota = 0 }: Totals): { cost: number; costedQuota: number } | null =>
  cost === 0 && costedQuota === 0 ? null : { cost, costedQuota }

const hasCosts = ({ current, previous }: Overview): boolean => costsOf(current) !== null || costsOf(previous) !== null

const costMeasures = (): Measure[] => [
  { label: t('成本'), of: (totals) => costsOf(totals)?.cost ?? null, words: costText },
  {
    label: t('毛利'),
    of: (totals) => {
      const costs = costsOf(totals)
      return costs && marginOf(costs)
    },
    words: priceText,
    better: 'up',
    tip: (totals) => {
      const costs = costsOf(totals)
      if (!costs || costs.costedQuota === 0) return ''
      const share = formatPercent(marginOf(costs) / revenueOf(costs))
      return totals.quota > costs.costedQuota ? `${share} · ${t('只计已知进价的调用')}` : share
    },
  },
]

type TilesProps = {
  overview: Overview | undefined
  logLink: LogLink
  /** It is of the range and the filters before. */
  isStale: boolean
}

/** The period in numbers, each with how it moved. */
export function Tiles({ overview, logLink, isStale }: TilesProps) {
  const isCosted = overview !== undefined && hasCosts(overview)
  const measures = [...measuresOf(logLink), ...(isCosted ? costMeasures() : [])]
  return (
    <SimpleGrid
      columns={{ base: 2, md: isCosted ? 4 : 3, xl: isCosted ? 4 : measures.length }}
      gap="3"
      opacity={isStale ? 0.5 : 1}
    >
      {measures.map((measure) => (
        <Tile key={measure.label} measure={measure} overview={overview} />
      ))}
    </SimpleGrid>
  )
}

/** Beside each other with a dot between them where there is room, and else below each other: none is broken, no line ends with a dot. */
const Notes = ({ notes }: { notes: readonly (string | undefined)[] }) => (
  <Box overflow="hidden">
    <Flex wrap="wrap" columnGap="4" ms="-4">
      {notes.filter(Boolean).map((note) => (
        <Box
          as="span"
          key={note}
          ps="4"
          position="relative"
          _before={{ content: '"·"', position: 'absolute', insetStart: '1.5' }}
        >
          {note}
        </Box>
      ))}
    </Flex>
  </Box>
)

function Tile({ measure, overview }: { measure: Measure; overview: Overview | undefined }) {
  const { label, of, words, show = words, better, isShare, tip, href, counted = callsOf } = measure
  if (!overview) return <StatTile label={label} value="" loading note={<Skeleton h="4" w="16" />} />
  const now = of(overview.current)
  const before = of(overview.previous)
  return (
    <StatTile
      label={label}
      value={now === null ? <None /> : show(now)}
      change={
        now === null || before === null
          ? undefined
          : { now, before, ...(better && { better }), ...(isShare && { isShare }) }
      }
      note={<Notes notes={[`${t('上一时段')} ${before === null ? '–' : words(before)}`, tip?.(overview.current)]} />}
      {...(href !== undefined && counted(overview.current) > 0 && { href })}
    />
  )
}
