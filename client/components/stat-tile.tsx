import { Box, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { t } from '../i18n/t.ts'
import { formatPercent } from '../lib/format.ts'

type Change = {
  now: number
  /** The same stretch of time before this one. */
  before: number
  /** Which direction is good news; neither where it is only news. */
  better?: 'up' | 'down'
  /** The values are shares, whose change is given in percentage points. */
  isShare?: boolean
}

export type StatTileProps = {
  label: string
  value: ReactNode
  change?: Change | undefined
  /** A faint line below; while the value is loading, only whether there will be one. */
  note?: ReactNode
  loading?: boolean
  /** Where the number is taken apart. */
  href?: string
}

function ChangeMark({ now, before, better, isShare = false }: Change) {
  if (now === before || (before === 0 && !isShare)) return null
  const share = isShare ? now - before : (now - before) / Math.abs(before)
  const up = share > 0
  const good = better === undefined ? undefined : (better === 'up') === up
  const Arrow = up ? ArrowUp : ArrowDown
  const points = (Math.abs(share) * 100).toFixed(1)
  if (isShare && points === '0.0') return null
  const percent = isShare
    ? t('{points} 百分点', { points })
    : formatPercent(Math.abs(share), Math.abs(share) < 0.1 ? 1 : 0)
  return (
    <HStack
      as="span"
      gap="0.5"
      textStyle="xs"
      color={good === undefined ? 'fg.muted' : good ? 'good.fg' : 'bad.fg'}
      data-tip={up ? t('比上一时段多 {percent}', { percent }) : t('比上一时段少 {percent}', { percent })}
    >
      <Arrow size={12} aria-hidden />
      {percent}
    </HStack>
  )
}

/** One number that matters, and how it moved. */
export function StatTile({ label, value, change, note, loading = false, href }: StatTileProps) {
  const content = (
    <Stack gap="1" minW="0">
      <Text textStyle="xs" color="fg.muted" truncate>
        {label}
      </Text>
      {loading ? (
        <Skeleton h="8" w="24" />
      ) : (
        <HStack columnGap="1.5" rowGap="0" align="baseline" wrap="wrap">
          <Text as="span" textStyle="3xl" fontWeight="semibold" letterSpacing="tight">
            {value}
          </Text>
          {change && <ChangeMark {...change} />}
        </HStack>
      )}
      {note && (
        <Text as="div" textStyle="xs" color="fg.subtle" textWrap="balance">
          {loading ? <Skeleton as="span" display="inline-block" h="2.5" w="20" /> : note}
        </Text>
      )}
    </Stack>
  )
  const frame = { borderWidth: '1px', borderRadius: 'l3', bg: 'bg.panel', px: '4', py: '3', minW: '0' } as const
  if (!href) return <Box {...frame}>{content}</Box>
  return (
    <Box {...frame} asChild _hover={{ borderColor: 'border.emphasized' }} focusVisibleRing="outside">
      <Link href={href}>{content}</Link>
    </Box>
  )
}
