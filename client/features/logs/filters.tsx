import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import type { Choice } from '../../components/picker.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { kinds } from './kinds.ts'
import { logFilters, type LogFilterValues, type useLogFilters } from './use-logs.ts'
import { SavedViews } from './saved-views.tsx'

type LogFilterBarProps = {
  values: LogFilterValues
  onChange: ReturnType<typeof useLogFilters>[1]
  unreadable: readonly string[]
}
type Field = 'model' | 'token' | 'user' | 'channel'

/** Names that hold the text, of what the reader may see. */
function useNames(field: Field, text: string): Choice[] | undefined {
  const { isAdmin } = useSession()
  const all = trpc.admin.logs.suggest.useQuery(
    { field, text },
    { ...reportedWhenFailed, ...keepsRows, enabled: isAdmin },
  )
  const isOwn = field === 'model' || field === 'token'
  const own = trpc.user.logs.suggest.useQuery(
    { field: isOwn ? field : 'model', text },
    { ...reportedWhenFailed, ...keepsRows, enabled: !isAdmin && isOwn },
  )
  const { data } = isAdmin ? all : own
  return data?.map(({ value, note }) => ({ value, label: value, note }))
}

/** Names of agents and projects that calls were made under, the most expensive first. */
function useSummed(by: 'agent' | 'project', text: string): Choice[] | undefined {
  const { isAdmin } = useSession()
  const all = trpc.admin.logs.sums.useQuery({ by }, { ...reportedWhenFailed, enabled: isAdmin })
  const own = trpc.user.logs.sums.useQuery({ by }, { ...reportedWhenFailed, enabled: !isAdmin })
  const { data } = isAdmin ? all : own
  return data?.filter(({ name }) => name.includes(text)).map(({ name }) => ({ value: name, label: name }))
}

const useAgents = (text: string) => useSummed('agent', text)
const useProjects = (text: string) => useSummed('project', text)
const useModels = (text: string) => useNames('model', text)
const useTokens = (text: string) => useNames('token', text)
const useUsers = (text: string) => useNames('user', text)
const useChannels = (text: string) => useNames('channel', text)

export function LogFilterBar({ values, onChange, unreadable }: LogFilterBarProps) {
  const { isAdmin } = useSession()
  const { displayInCurrency } = useStatus()
  const groups = trpc.user.groups.list.useQuery(undefined, reportedWhenFailed)
  const names = trpc.admin.groups.names.useQuery(undefined, { ...reportedWhenFailed, enabled: isAdmin })
  const known = isAdmin ? (names.data ?? []) : (groups.data ?? []).map(({ name }) => name)
  return (
    <FilterBar
      query={{ id: 'request', placeholder: t('请求 ID 或会话') }}
      facets={[
        {
          id: 'type',
          label: t('类型'),
          kind: 'choices',
          choices: kinds.map(({ type, words }) => ({ value: String(type), label: t(words) })),
        },
        {
          id: 'outcome',
          label: t('请求结果'),
          kind: 'choices',
          choices: [
            { value: 'success', label: t('成功') },
            { value: 'interrupted', label: t('中断') },
            { value: 'failed', label: t('失败') },
          ],
        },
        { id: 'range', label: t('时间'), kind: 'range' },
        {
          id: 'model',
          label: t('模型'),
          kind: 'suggest',
          placeholder: t('全名，或用 % 代表任意文字'),
          useSuggestions: useModels,
        },
        { id: 'token', label: t('令牌'), kind: 'suggest', placeholder: t('令牌名称'), useSuggestions: useTokens },
        { id: 'group', label: t('分组'), kind: 'choices', choices: known.map((value) => ({ value, label: value })) },
        {
          id: 'user',
          label: t('用户'),
          kind: 'suggest',
          placeholder: t('用户名'),
          useSuggestions: useUsers,
          hidden: !isAdmin,
        },
        {
          id: 'channel',
          label: t('所用渠道'),
          kind: 'suggest',
          placeholder: t('渠道名称或 ID'),
          useSuggestions: useChannels,
          hidden: !isAdmin,
        },
        {
          id: 'agent',
          label: t('智能体'),
          kind: 'suggest',
          placeholder: t('智能体名称'),
          useSuggestions: useAgents,
        },
        { id: 'project', label: t('项目'), kind: 'suggest', placeholder: t('项目名称'), useSuggestions: useProjects },
        { id: 'time', label: t('用时'), kind: 'bounds', unit: 's' },
        { id: 'cost', label: t('费用'), kind: 'bounds', unit: displayInCurrency ? '$' : '' },
      ]}
      values={values}
      onChange={onChange}
      extra={<SavedViews />}
      unreadable={unreadable}
      isRefused
      defaults={logFilters}
    />
  )
}
