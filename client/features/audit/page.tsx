import { Button, HStack } from '@chakra-ui/react'
import { ChevronLeft, ChevronRight, ChevronsLeft, ShieldCheck } from 'lucide-react'
import { useMemo } from 'react'
import { actText } from '../../components/act-words.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { neighbours } from '../../components/detail-panel.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useRangeMoment } from '../../lib/range-moment.ts'
import { isRangePreset, parseRange } from '../../lib/time-range.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { auditColumns, type Entry, nameOfTarget, targetWords } from './columns.tsx'
import { EntryPanel } from './panel.tsx'

const pageSize = 20

const filters = { keyword: '', action: '', target: '', targetId: '', actor: '', range: '' }
type Values = { [Name in keyof typeof filters]: string }

const isId = (text: string): boolean => /^\d{1,9}$/.test(text)

/** A range that moves with the clock has no end. */
function useInput(values: Values) {
  const [now] = useRangeMoment(values.range)
  const key = JSON.stringify(values)
  return useMemo(() => {
    const { keyword, action, target, targetId, actor, range: text } = JSON.parse(key) as Values
    const range = parseRange(text, now)
    return {
      keyword,
      action,
      targetType: target,
      targetId,
      actorId: isId(actor) ? Number(actor) : 0,
      start: range?.from,
      end: range && !isRangePreset(text) ? range.to : undefined,
      pageSize,
    }
  }, [key, now])
}

export function Page() {
  const [values, setFilters] = useUrlState(filters, ['before', 'after', 'open'])
  const [{ before, after, open }, go] = useUrlState({ before: 0, after: 0, open: 0 }, [], ['open'])
  const input = useInput(values)
  const place = before > 0 ? { before } : after > 0 ? { after } : {}
  const entries = trpc.admin.audit.list.useQuery({ ...input, ...place }, keepsRows)
  const actions = trpc.admin.audit.actions.useQuery(undefined, reportedWhenFailed)
  const rows = entries.data?.items ?? []
  const filtered = Object.values(values).some((value) => value !== '')
  const show = (entry: Entry) => go({ open: entry.id })
  return (
    <Frame title={t('审计日志')} fill description={t('管理操作的完整记录，任何人都不能修改或删除。')}>
      <DataTable
        id="audit"
        label={t('审计日志')}
        columns={auditColumns()}
        rowId={({ id }) => id}
        rowLabel={(entry) => `${actText(entry.action)} ${nameOfTarget(entry)}`}
        query={entries}
        onOpen={show}
        openRow={open || undefined}
        toolbar={
          <FilterBar
            query={{ id: 'keyword', placeholder: t('搜索操作人、对象或原因') }}
            facets={[
              {
                id: 'action',
                label: t('操作类型'),
                kind: 'choice',
                choices: (actions.data ?? []).map((value) => ({ value, label: actText(value) })),
              },
              {
                id: 'target',
                label: t('对象类型'),
                kind: 'choice',
                choices: Object.entries(targetWords()).map(([value, label]) => ({ value, label })),
              },
              { id: 'targetId', label: t('对象 ID'), kind: 'text' },
              { id: 'actor', label: t('操作人 ID'), kind: 'text' },
              { id: 'range', label: t('时间'), kind: 'range' },
            ]}
            values={values}
            onChange={setFilters}
            unreadable={values.actor === '' || isId(values.actor) ? [] : ['actor']}
          />
        }
        empty={
          <EmptyState
            icon={ShieldCheck}
            title={filtered ? t('没有匹配的记录') : t('还没有记录')}
            action={filtered && <Button onClick={() => setFilters(filters)}>{t('清除筛选')}</Button>}
          />
        }
      />
      {(entries.data?.hasNewer || entries.data?.hasOlder) && (
        <HStack as="nav" aria-label={t('分页')} justify="flex-end" gap="1" flexShrink="0">
          <Button
            size="sm"
            variant="ghost"
            disabled={!entries.data.hasNewer}
            onClick={() => go({ before: 0, after: 0 })}
          >
            <ChevronsLeft aria-hidden />
            {t('最新')}
          </Button>
          <Button
            size="sm"
            variant="ghost"
            disabled={!entries.data.hasNewer}
            onClick={() => go({ before: 0, after: rows[0]?.id ?? 0 })}
          >
            <ChevronLeft aria-hidden />
            {t('较新')}
          </Button>
          <Button
            size="sm"
            variant="ghost"
            disabled={!entries.data.hasOlder}
            onClick={() => go({ after: 0, before: rows.at(-1)?.id ?? 0 })}
          >
            {t('较早')}
            <ChevronRight aria-hidden />
          </Button>
        </HStack>
      )}
      <EntryPanel
        id={open}
        shown={rows.find(({ id }) => id === open)}
        onClose={() => go({ open: 0 })}
        onTarget={({ targetType, targetId }) => setFilters({ ...filters, target: targetType, targetId })}
        {...neighbours(rows, ({ id }) => id === open, show)}
      />
    </Frame>
  )
}
