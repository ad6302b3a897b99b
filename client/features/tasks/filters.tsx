import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { asId, type TaskFilterValues, type useTaskFilters } from './use-tasks.ts'
import { states } from './words.ts'

type TaskFilterBarProps = {
  values: TaskFilterValues
  onChange: ReturnType<typeof useTaskFilters>[1]
  actions: Record<string, PlainText>
  /** States that tasks of this kind have. */
  statuses: readonly string[]
}

export function TaskFilterBar({ values, onChange, actions, statuses }: TaskFilterBarProps) {
  const { isAdmin } = useSession()
  return (
    <FilterBar
      query={{ id: 'id', placeholder: t('任务 ID') }}
      facets={[
        {
          id: 'action',
          label: t('类型'),
          kind: 'choice',
          choices: Object.entries(actions).map(([value, words]) => ({ value, label: t(words) })),
        },
        {
          id: 'status',
          label: t('状态'),
          kind: 'choice',
          choices: Object.entries(states)
            .filter(([value]) => statuses.includes(value))
            .map(([value, { words }]) => ({ value, label: t(words) })),
        },
        { id: 'range', label: t('时间'), kind: 'range' },
        { id: 'user', label: t('用户'), kind: 'text', placeholder: t('用户名'), hidden: !isAdmin },
        { id: 'channel', label: t('所用渠道'), kind: 'text', placeholder: t('渠道 ID'), hidden: !isAdmin },
      ]}
      values={values}
      onChange={onChange}
      unreadable={values.channel !== '' && asId(values.channel) === 0 ? ['channel'] : []}
    />
  )
}
