import { HStack, Text, chakra } from '@chakra-ui/react'
import { ChevronDown, ChevronRight, FlaskConical, Pencil, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { balanceText } from '#core/balance-text.ts'
import { Tags } from '../../../components/cells/names.tsx'
import { Money } from '../../../components/cells/numbers.tsx'
import { IconButton } from '../../../components/icon-button.tsx'
import { t } from '../../../i18n/t.ts'
import { formatExactTime } from '../../../lib/format.ts'
import { useIsPhone } from '../../../lib/use-media.ts'
import type { Drift } from './drift-mark.tsx'
import { DriftMark } from './drift-mark.tsx'
import type { Channel, Row, TagRow } from './rows.ts'

/** What the buttons of a row open. */
export type Opening = {
  test: (channel: Channel) => void
  edit: (channel: Channel) => void
  editTag: (tag: string) => void
  price: (models: readonly string[]) => void
}

const Clipped = chakra('span', { base: { overflow: 'hidden', textOverflow: 'ellipsis', display: 'block' } })

export function Part({ children, tip = false }: { children: string; tip?: boolean }) {
  return <Clipped data-tip={tip ? children : undefined}>{children}</Clipped>
}

const Fold = chakra('button', {
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '1',
    maxW: 'full',
    fontWeight: 'medium',
    cursor: 'pointer',
    borderRadius: 'l1',
    focusVisibleRing: 'outside',
  },
})

type Marks = { drift: Drift | undefined; unpriced: readonly string[] | undefined; opening: Opening }
type NameProps = Marks & { row: Row; toggleTag: (tag: string) => void }

/** A channel's name, or a tag that unfolds; on phones the card around it is the button. */
export function Name({ row, toggleTag, drift, unpriced, opening }: NameProps) {
  const phone = useIsPhone()
  if (row.kind === 'channel') {
    return (
      <HStack as="span" gap="2" ps={row.nested ? '5' : '0'}>
        <Clipped data-tip={row.channel.name}>{row.channel.name}</Clipped>
        <DriftMark drift={drift} />
        {unpriced && <UnpricedMark name={row.channel.name} models={unpriced} opening={opening} />}
      </HStack>
    )
  }
  const Arrow = row.unfolded ? ChevronDown : ChevronRight
  const name = (
    <>
      <Arrow size={14} aria-hidden />
      <Clipped>{row.tag}</Clipped>
    </>
  )
  if (phone) return <Fold as="span">{name}</Fold>
  return (
    <Fold type="button" aria-expanded={row.unfolded} onClick={() => toggleTag(row.tag)}>
      {name}
      <Text as="span" color="fg.muted" fontWeight="normal" flexShrink="0">
        {t('{count} 个渠道', { count: row.channels.length })}
      </Text>
    </Fold>
  )
}

const Mark = chakra('button', {
  base: {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '0.5',
    flexShrink: '0',
    textStyle: 'xs',
    color: 'warning.fg',
    borderRadius: 'l1',
    focusVisibleRing: 'outside',
  },
})

const mostModels = 10

type UnpricedMarkProps = { name: string; models: readonly string[]; opening: Opening }

/** Models that nobody can call for want of a price; pressing it leads to setting one. */
function UnpricedMark({ name, models, opening }: UnpricedMarkProps) {
  const phone = useIsPhone()
  const words = t('{count} 个模型没有价格', { count: models.length })
  const tip = [words, ...models.slice(0, mostModels), ...(models.length > mostModels ? ['…'] : [])].join('\n')
  const shown = (
    <>
      <TriangleAlert size={13} aria-hidden />
      {!phone && models.length}
    </>
  )
  if (phone) {
    return (
      <Mark as="span" role="img" aria-label={words}>
        {shown}
      </Mark>
    )
  }
  return (
    <Mark
      type="button"
      cursor="pointer"
      aria-label={t('{name}：{count} 个模型没有价格，设置价格', { name, count: models.length })}
      data-tip={tip}
      onClick={() => opening.price(models)}
    >
      {shown}
    </Mark>
  )
}

/** Two fit; of more the first stands for all. */
export function Groups({ of }: { of: readonly string[] }) {
  return <Tags values={of} most={of.length > 2 ? 1 : 2} />
}

export function TagStatus({ row }: { row: TagRow }) {
  return (
    <chakra.span color="fg.muted">
      {t('{enabled}/{count} 启用', { enabled: row.enabled, count: row.channels.length })}
    </chakra.span>
  )
}

const Balance = chakra('button', {
  base: {
    cursor: 'pointer',
    borderRadius: 'l1',
    textDecoration: 'underline dotted',
    textDecorationColor: 'border.emphasized',
    textUnderlineOffset: '3px',
    fontVariantNumeric: 'tabular-nums',
    minW: { base: '6', sm: 'auto' },
    minH: { base: '6', sm: 'auto' },
    focusVisibleRing: 'outside',
    _hover: { color: 'accent.fg' },
    _disabled: { opacity: '0.5' },
  },
})

/** As the upstream reported it; empty while it did not. */
export const upstreamBalance = ({ balance, balanceCurrency, balanceUpdatedAt }: Channel): string =>
  balanceUpdatedAt ? balanceText(balance, balanceCurrency) : ''

/** What was used, and what the provider says is left; pressing that asks the provider again. */
export function Used({ channel, onUpdate }: { channel: Channel; onUpdate: () => Promise<unknown> }) {
  const { balanceUpdatedAt, name } = channel
  const [isAsking, setAsking] = useState(false)
  const update = async () => {
    setAsking(true)
    await onUpdate()
    setAsking(false)
  }
  const left = upstreamBalance(channel) || '–'
  const tip = balanceUpdatedAt
    ? `${t('更新于 {time}', { time: formatExactTime(balanceUpdatedAt) })}\n${t('点击更新余额')}`
    : t('点击更新余额')
  return (
    <HStack as="span" display="inline-flex" gap="1" maxW="full">
      <Money quota={channel.usedQuota} />
      <Text as="span" color="fg.subtle" aria-hidden>
        /
      </Text>
      <Balance
        type="button"
        disabled={isAsking}
        aria-label={`${left} ${t('更新 {name} 的余额', { name })}`}
        data-tip={tip}
        onClick={() => void update()}
      >
        {left}
      </Balance>
    </HStack>
  )
}

export function Operate({ row, opening }: { row: Row; opening: Opening }) {
  if (row.kind === 'tag') {
    const label = t('编辑标签 {tag}', { tag: row.tag })
    return <IconButton size="2xs" icon={Pencil} label={label} onClick={() => opening.editTag(row.tag)} />
  }
  const { channel } = row
  const { name } = channel
  return (
    <HStack as="span" display="inline-flex" gap="1">
      <IconButton
        size="2xs"
        icon={FlaskConical}
        label={t('测试 {name}', { name })}
        tip={t('测试')}
        onClick={() => opening.test(channel)}
      />
      <IconButton
        size="2xs"
        icon={Pencil}
        label={t('编辑 {name}', { name })}
        tip={t('编辑')}
        onClick={() => opening.edit(channel)}
      />
    </HStack>
  )
}
