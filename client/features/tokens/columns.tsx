import { Box } from '@chakra-ui/react'
import { KeyCell, Tags } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { Spend } from './spend.tsx'
import { stateOf } from './state.ts'
import type { Token } from './use-open-token.ts'
import { Week } from './week.tsx'

/** Both are written when a token is made; only a call moves the second. */
const wasUsed = (token: Token): boolean =>
  token.usedQuota > 0 || token.accessedAt.getTime() - token.createdAt.getTime() > 1000

const lastUse = (token: Token) => (wasUsed(token) ? <Time value={token.accessedAt} /> : t('从未使用'))

export function tokenColumns(reveal: (token: Token) => Promise<string>, now: Date): Column<Token>[] {
  return [
    {
      id: 'name',
      title: t('名称'),
      cell: (token) => token.name,
      csv: (token) => token.name,
      width: 180,
      grow: true,
      fixed: true,
      card: 'title',
    },
    {
      id: 'status',
      title: t('状态'),
      cell: (token) => {
        const { tone, words } = stateOf(token, now)
        return <Status tone={tone}>{t(words)}</Status>
      },
      csv: (token) => t(stateOf(token, now).words),
      width: 96,
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
      width: 222,
    },
    {
      id: 'spend',
      title: t('已用 / 总额'),
      cell: (token) => <Spend token={token} />,
      csv: (token) => token.usedQuota,
      width: 164,
      card: 'fact',
    },
    {
      id: 'week',
      title: t('近 7 天'),
      cell: (token) => (wasUsed(token) ? <Week tokenId={token.id} /> : <None />),
      width: 104,
    },
    {
      id: 'group',
      title: t('分组'),
      cell: (token) => (token.group === '' ? t('跟随账户') : token.group),
      csv: (token) => token.group,
      width: 104,
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
      id: 'used',
      title: t('最后使用'),
      cell: lastUse,
      csv: (token) => formatTime(token.accessedAt),
      width: 112,
      card: 'fact',
    },
    {
      id: 'expires',
      title: t('过期时间'),
      cell: (token) => (token.expiresAt ? <Time value={token.expiresAt} /> : t('永不过期')),
      csv: (token) => token.expiresAt && formatTime(token.expiresAt),
      width: 112,
    },
    {
      id: 'created',
      title: t('创建时间'),
      cell: (token) => <Time value={token.createdAt} />,
      csv: (token) => formatTime(token.createdAt),
      width: 120,
      hidden: true,
    },
  ]
}
