import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import { kinds } from './kinds.ts'
import type { useLogFilters } from './use-logs.ts'

type LogFilterBarProps = { values: ReturnType<typeof useLogFilters>[0]; onChange: ReturnType<typeof useLogFilters>[1] }

export function LogFilterBar({ values, onChange }: LogFilterBarProps) {
  const { isAdmin } = useSession()
  const groups = trpc.user.groups.list.useQuery()
  const names = trpc.admin.groups.names.useQuery(undefined, { enabled: isAdmin })
  const known = isAdmin ? (names.data ?? []) : (groups.data ?? []).map(({ name }) => name)
  return (
    <FilterBar
      query={{ id: 'request', placeholder: t('请求 ID') }}
      facets={[
        {
          id: 'type',
          label: t('类型'),
          kind: 'choice',
          choices: kinds.map(({ type, words }) => ({ value: String(type), label: t(words) })),
        },
        { id: 'range', label: t('时间'), kind: 'range' },
        { id: 'model', label: t('模型'), kind: 'text', placeholder: t('全名，或用 % 代表任意文字') },
        { id: 'token', label: t('令牌'), kind: 'text', placeholder: t('令牌名称') },
        { id: 'group', label: t('分组'), kind: 'choice', choices: known.map((value) => ({ value, label: value })) },
        { id: 'user', label: t('用户'), kind: 'text', placeholder: t('用户名'), hidden: !isAdmin },
        { id: 'channel', label: t('所用渠道'), kind: 'text', placeholder: t('渠道 ID'), hidden: !isAdmin },
      ]}
      values={values}
      onChange={onChange}
    />
  )
}
