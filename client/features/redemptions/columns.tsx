import { chakra } from '@chakra-ui/react'
import { KeyCell, Tags, UserCell } from '../../components/cells/names.tsx'
import { Money, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { csvQuota } from '../../components/data-table/csv-amounts.ts'
import type { Column } from '../../components/data-table/types.ts'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { type Redemption, stateOf } from './words.ts'

const usesText = ({ isGift, usedCount, maxUses }: Redemption): string =>
  isGift ? `${usedCount} / ${maxUses === -1 ? t('不限') : maxUses}` : `${usedCount} / 1`

const instant = (time: Date | null) => time?.toISOString()

/** `reveal` brings the text of a code that is masked. */
export const redemptionColumns = (
  now: Date,
  reveal?: (redemption: Redemption) => Promise<string>,
): Column<Redemption>[] => [
  {
    id: 'id',
    title: 'ID',
    sortable: true,
    width: 56,
    cell: ({ id }) => <chakra.span color="fg.muted">{id}</chakra.span>,
    csv: ({ id }) => id,
  },
  {
    id: 'name',
    title: t('名称'),
    sortable: true,
    width: 140,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ name }) => <span data-tip={name}>{name}</span>,
    csv: ({ name }) => name,
  },
  {
    id: 'key',
    title: t('兑换码内容'),
    width: 200,
    cell: (row) => {
      const name = t('兑换码 {name}', { name: row.name })
      const load = row.isKeyMasked && reveal ? () => reveal(row) : undefined
      return <KeyCell value={row.key} name={name} {...(load && { load })} />
    },
    csv: ({ key }) => key,
  },
  {
    id: 'status',
    title: t('状态'),
    width: 96,
    card: 'fact',
    cell: (row) => {
      const { tone, words } = stateOf(row, now)
      return <Status tone={tone}>{t(words)}</Status>
    },
    csv: (row) => t(stateOf(row, now).words),
  },
  {
    id: 'kind',
    title: t('类型'),
    width: 96,
    cell: ({ isGift }) => <Tags values={[isGift ? t('礼品码') : t('一次性')]} />,
    csv: ({ isGift }) => (isGift ? t('礼品码') : t('一次性')),
  },
  {
    id: 'quota',
    title: t('额度'),
    sortable: true,
    width: 88,
    align: 'end',
    card: 'fact',
    cell: ({ quota }) => <Money quota={quota} />,
    ...csvQuota(({ quota }: Redemption) => quota),
  },
  {
    id: 'uses',
    title: t('使用次数'),
    sortable: true,
    width: 96,
    align: 'end',
    card: 'fact',
    cell: usesText,
    csv: usesText,
  },
  {
    id: 'validFrom',
    title: t('生效时间'),
    sortable: true,
    width: 130,
    hidden: true,
    cell: ({ validFrom }) => <Time value={validFrom} />,
    csv: ({ validFrom }) => instant(validFrom),
  },
  {
    id: 'validUntil',
    title: t('过期时间'),
    sortable: true,
    width: 120,
    cell: ({ validUntil }) => (validUntil ? <Time value={validUntil} /> : t('永不过期')),
    csv: ({ validUntil }) => instant(validUntil),
  },
  {
    id: 'usedBy',
    title: t('兑换人'),
    width: 100,
    cell: ({ usedUserId, usedUsername }) =>
      usedUserId ? <UserCell user={{ id: usedUserId, username: usedUsername || `#${usedUserId}` }} /> : <None />,
    csvColumns: [
      { title: t('兑换人'), csv: ({ usedUsername }) => usedUsername },
      { title: t('兑换人 ID'), csv: ({ usedUserId }) => usedUserId || undefined },
    ],
  },
  {
    id: 'redeemed',
    title: t('兑换时间'),
    sortable: true,
    width: 130,
    hidden: true,
    cell: ({ redeemedAt }) => <Time value={redeemedAt} />,
    csv: ({ redeemedAt }) => instant(redeemedAt),
  },
  {
    id: 'created',
    title: t('创建时间'),
    sortable: true,
    width: 104,
    cell: ({ createdAt }) => <Time value={createdAt} />,
    csv: ({ createdAt }) => instant(createdAt),
  },
]
