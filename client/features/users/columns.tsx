import { chakra } from '@chakra-ui/react'
import { Code, Tags } from '../../components/cells/names.tsx'
import { Count, Money, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { csvQuota } from '../../components/data-table/csv-amounts.ts'
import type { Column } from '../../components/data-table/types.ts'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { roleText, statusOf, type User } from './words.ts'

export const userColumns = (): Column<User>[] => [
  {
    id: 'id',
    sortable: true,
    title: 'ID',
    width: 70,
    cell: ({ id }) => <chakra.span color="fg.muted">{id}</chakra.span>,
    csv: ({ id }) => id,
  },
  {
    id: 'username',
    sortable: true,
    title: t('用户名'),
    width: 160,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ username, displayName }) => (
      <span data-tip={displayName}>
        {username}
        {displayName !== '' && displayName !== username && ` (${displayName})`}
      </span>
    ),
    csv: ({ username }) => username,
  },
  {
    id: 'email',
    title: t('邮箱'),
    width: 180,
    hidden: true,
    cell: ({ email }) => email || <None />,
    csv: ({ email }) => email,
  },
  {
    id: 'group',
    title: t('分组'),
    width: 100,
    cell: ({ group }) => <Tags values={[group]} />,
    csv: ({ group }) => group,
  },
  { id: 'role', title: t('角色'), width: 110, cell: ({ role }) => roleText(role), csv: ({ role }) => roleText(role) },
  {
    id: 'status',
    title: t('状态'),
    width: 100,
    card: 'fact',
    cell: (user) => {
      const { tone, words } = statusOf(user)
      return <Status tone={tone}>{words}</Status>
    },
    csv: (user) => statusOf(user).words,
  },
  {
    id: 'quota',
    sortable: true,
    title: t('剩余额度'),
    width: 132,
    align: 'end',
    card: 'fact',
    cell: ({ quota }) => <Money quota={quota} />,
    ...csvQuota(({ quota }: User) => quota),
  },
  {
    id: 'used',
    sortable: true,
    title: t('已用额度'),
    width: 120,
    align: 'end',
    card: 'fact',
    cell: ({ usedQuota }) => <Money quota={usedQuota} />,
    ...csvQuota(({ usedQuota }: User) => usedQuota),
  },
  {
    id: 'calls',
    sortable: true,
    title: t('调用次数'),
    width: 100,
    align: 'end',
    cell: ({ requestCount }) => <Count value={requestCount} />,
    csv: ({ requestCount }) => requestCount,
  },
  {
    id: 'invited',
    sortable: true,
    title: t('邀请人数'),
    width: 100,
    align: 'end',
    cell: ({ affCount }) => <Count value={affCount} />,
    csv: ({ affCount }) => affCount,
  },
  {
    id: 'rewards',
    title: t('邀请收益'),
    width: 110,
    align: 'end',
    hidden: true,
    cell: ({ affHistoryQuota }) => <Money quota={affHistoryQuota} />,
    ...csvQuota(({ affHistoryQuota }: User) => affHistoryQuota),
  },
  {
    id: 'inviter',
    title: t('邀请人'),
    width: 90,
    hidden: true,
    cell: ({ inviterId }) => (inviterId ? <Code>{`#${inviterId}`}</Code> : <None />),
    csv: ({ inviterId }) => inviterId,
  },
  {
    id: 'created',
    sortable: true,
    title: t('注册时间'),
    width: 120,
    cell: ({ createdAt }) => <Time value={createdAt} />,
    csv: ({ createdAt }) => createdAt?.toISOString(),
  },
]
