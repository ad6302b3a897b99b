import { Button, HStack } from '@chakra-ui/react'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { presetTitles } from '../../components/filter-bar/facet-input.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { parseRange } from '../../lib/time-range.ts'
import { trpc } from '../../lib/trpc.ts'
import { dashboardState, fallbackRange, type DashboardValues, type useDashboardState } from './use-stats.ts'

type DashboardFiltersProps = { values: DashboardValues; onChange: ReturnType<typeof useDashboardState>[1] }

/** Whose numbers, which period, which models. */
export function DashboardFilters({ values, onChange }: DashboardFiltersProps) {
  const { isAdmin } = useSession()
  const own = trpc.user.groups.list.useQuery(undefined, reportedWhenFailed)
  const all = trpc.admin.groups.names.useQuery(undefined, { ...reportedWhenFailed, enabled: isAdmin })
  const groups = isAdmin ? (all.data ?? []) : (own.data ?? []).map(({ name }) => name)
  return (
    <HStack gap="2" wrap="wrap">
      {isAdmin && (
        <HStack gap="1" role="group" aria-label={t('统计范围')}>
          {[false, true].map((mine) => (
            <Button
              key={String(mine)}
              variant={values.own === mine ? 'subtle' : 'outline'}
              aria-pressed={values.own === mine}
              onClick={() => onChange({ own: mine, ...(mine && { user: '' }) })}
            >
              {mine ? t('仅自己') : t('所有用户')}
            </Button>
          ))}
        </HStack>
      )}
      <FilterBar
        facets={[
          { id: 'range', label: t('时间'), kind: 'range' },
          {
            id: 'by',
            label: t('粒度'),
            kind: 'choice',
            fixed: true,
            choices: [
              { value: 'hour', label: t('按小时') },
              { value: 'day', label: t('按天') },
              { value: 'week', label: t('按周') },
            ],
          },
          { id: 'model', label: t('模型'), kind: 'text', placeholder: t('全名，或用 % 代表任意文字') },
          { id: 'group', label: t('分组'), kind: 'choice', choices: groups.map((value) => ({ value, label: value })) },
          { id: 'user', label: t('用户'), kind: 'text', placeholder: t('用户名'), hidden: !isAdmin || values.own },
          { id: 'session', label: t('会话'), kind: 'text', placeholder: t('会话名称') },
          { id: 'agent', label: t('智能体'), kind: 'text', placeholder: t('智能体名称') },
          { id: 'project', label: t('项目'), kind: 'text', placeholder: t('项目名称') },
        ]}
        values={values}
        onChange={onChange}
        defaults={dashboardState}
        instead={
          parseRange(values.range, new Date(0))
            ? undefined
            : t('目前显示：{range}', { range: t(presetTitles[fallbackRange]) })
        }
      />
    </HStack>
  )
}
