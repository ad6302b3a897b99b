import { Box } from '@chakra-ui/react'
import { KeyCell, Tags } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { csvQuota } from '../../components/data-table/csv-amounts.ts'
import type { Column } from '../../components/data-table/types.ts'
import { SpendCap, windowWords } from '../../components/spend-caps.tsx'
import { Status } from '../../components/status.tsx'
import { tokenStateOf } from '../../components/token-state.ts'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { Spend, totalOf } from './spend.tsx'
import type { Cap, Token } from './use-open-token.ts'
import { Week } from './week.tsx'

/** Both are written when a token is made; only a call moves the second. */
const wasUsed = (token: Token): boolean =>
  token.usedQuota > 0 || token.accessedAt.getTime() - token.createdAt.getTime() > 1000

const lastUse = (token: Token) => (wasUsed(token) ? <Time value={token.accessedAt} /> : t('从未使用'))

type ColumnsInput = {
  reveal: (token: Token) => Promise<string>
  now: Date
  /** By the token's id. */
  caps: ReadonlyMap<number, readonly Cap[]>
}

export function tokenColumns({ reveal, now, caps }: ColumnsInput): Column<Token>[] {
  return [
    {
      id: 'name',
      title: t('名称'),
      cell: (token) => token.name,
      csv: (token) => token.name,
      sortable: true,
      width: 130,
      grow: true,
      fixed: true,
      card: 'title',
    },
    {
      id: 'status',
      title: t('状态'),
      cell: (token) => {
        const { tone, words } = tokenStateOf(token, now)
        return <Status tone={tone}>{t(words)}</Status>
      },
      csv: (token) => t(tokenStateOf(token, now).words),
      width: 92,
      card: 'fact',
    },
    {
      id: 'key',
      title: t('密钥'),
      cell: (token) => (
        <Box whiteSpace="normal" wordBreak="break-all" lineHeight="1.25">
          <KeyCell value={`sk-${token.keyMask}`} load={() => reveal(token)} name={token.name} />
        </Box>
      ),
      width: 168,
    },
    {
      id: 'spend',
      title: t('已用 / 总额'),
      cell: (token) => <Spend token={token} />,
      csvColumns: [
        { title: t('已用额度'), ...csvQuota((token: Token) => token.usedQuota) },
        { title: t('总额度'), ...csvQuota((token: Token) => (token.unlimitedQuota ? undefined : totalOf(token))) },
      ],
      sortable: true,
      width: 140,
      card: 'fact',
    },
    {
      id: 'caps',
      title: t('消费上限'),
      cell: (token) => {
        const [tightest, ...more] = caps.get(token.id) ?? []
        if (!tightest) return <None />
        return (
          <Box w="full" minW="36" py="1">
            <SpendCap cap={tightest} />
            {more.length > 0 && (
              <Box textStyle="xs" color="fg.muted">
                {t('另有 {count} 个', { count: more.length })}
              </Box>
            )}
          </Box>
        )
      },
      csv: (token) =>
        (caps.get(token.id) ?? []).map((cap) => `${windowWords(cap)} ${cap.spent}/${cap.limit}`).join('; '),
      width: 168,
      card: 'fact',
      cardIf: (token) => (caps.get(token.id) ?? []).length > 0,
    },
    {
      id: 'week',
      title: t('每日消费'),
      cell: (token) => (wasUsed(token) ? <Week tokenId={token.id} /> : <None />),
      width: 98,
    },
    {
      id: 'used',
      title: t('最后使用'),
      cell: lastUse,
      csv: (token) => (wasUsed(token) ? formatTime(token.accessedAt) : t('从未使用')),
      sortable: true,
      width: 100,
      card: 'fact',
    },
    {
      id: 'group',
      title: t('分组'),
      cell: (token) => (token.group === '' ? t('跟随账户') : token.group),
      csv: (token) => token.group,
      width: 116,
    },
    {
      id: 'models',
      title: t('可用模型'),
      cell: (token) => (token.modelLimitsEnabled ? <Tags values={token.modelLimits} most={1} /> : t('不限')),
      csv: (token) => (token.modelLimitsEnabled ? token.modelLimits.join(' ') : ''),
      width: 170,
      hidden: true,
    },
    {
      id: 'addresses',
      title: t('IP 白名单'),
      cell: (token) => (token.allowIps === '' ? t('不限') : <Tags values={token.allowIps.split('\n')} most={1} />),
      csv: (token) => token.allowIps.replaceAll('\n', ' '),
      width: 170,
      hidden: true,
    },
    {
      id: 'expires',
      title: t('过期时间'),
      cell: (token) => (token.expiresAt ? <Time value={token.expiresAt} /> : t('永不过期')),
      csv: (token) => token.expiresAt && formatTime(token.expiresAt),
      sortable: true,
      width: 108,
    },
    {
      id: 'created',
      title: t('创建时间'),
      cell: (token) => <Time value={token.createdAt} />,
      csv: (token) => formatTime(token.createdAt),
      sortable: true,
      width: 120,
      hidden: true,
    },
  ]
}
