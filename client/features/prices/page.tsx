import { Box, Button, HStack, SegmentGroup, Skeleton, Stack, Text } from '@chakra-ui/react'
import { BookOpenText, Braces, CalendarClock, Layers, Plus, Receipt } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { t, text } from '../../i18n/t.ts'
import { usePageLeaveGuard } from '../../lib/leave-guard.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { BatchSheet } from './batch.tsx'
import { BuyingPrices } from './buying.tsx'
import { ChangesSheet } from './changes.tsx'
import {
  changeOf,
  draftOf,
  type Drafts,
  isUnreadable,
  type PriceRow,
  withDraft,
  withFigure,
  withLongContext,
} from './drafts.ts'
import { LongContextSheet } from './long-context.tsx'
import { NewModel } from './new-model.tsx'
import { RehearsalSheet } from './rehearsal.tsx'
import { SaveBar } from './save-bar.tsx'
import { PriceTable } from './table.tsx'
import { useCatalogue } from './use-catalogue.ts'

const state = { q: '', show: 'all', open: '', channel: '', model: '' }

const noRows: readonly PriceRow[] = []

/** The rows to choose from, by the words in the address. */
const views = new Map<string, { label: PlainText; isShown: (row: PriceRow) => boolean }>([
  ['all', { label: text('全部'), isShown: () => true }],
  ['served', { label: text('有渠道'), isShown: (row) => row.channelCount > 0 }],
  ['missing', { label: text('没有价格'), isShown: (row) => row.isMissing }],
  ['retired', { label: text('将停用'), isShown: (row) => row.retires !== null && row.channelCount > 0 }],
])

const Skeletons = () => (
  <Stack gap="2" aria-busy>
    {Array.from({ length: 12 }, (_, row) => (
      <Skeleton key={row} h="8" />
    ))}
  </Stack>
)

/** All prices in one list: typed where they stand, tried on past traffic, saved at once or at an instant. */
export function Page() {
  const query = trpc.admin.prices.list.useQuery()
  const { quotaPerUnit } = useStatus()
  const readOnly = !useSession().isRoot
  const [values, set] = useUrlState(state, [], ['open'])
  const words = useDeferredValue(values.q.trim().toLowerCase())
  const [drafts, setDrafts] = useState<Drafts>(new Map())
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [added, setAdded] = useState<readonly PriceRow[]>(noRows)
  const stored = query.data?.rows ?? noRows
  const rows = useMemo(
    () => [...added.filter(({ model }) => !stored.some((row) => row.model === model)), ...stored],
    [added, stored],
  )
  const shown = useMemo(
    () =>
      rows.filter((row) => row.model.toLowerCase().includes(words) && (views.get(values.show)?.isShown(row) ?? true)),
    [rows, words, values.show],
  )
  const missing = stored.filter(({ isMissing }) => isMissing).length
  const channelNames = useMemo(() => query.data?.channels.map(({ name }) => name) ?? [], [query.data])
  usePageLeaveGuard(drafts.size > 0)
  const chosen = rows.filter(({ model }) => selected.has(model))
  const priced = rows.find(({ model }) => model === values.model)
  const fill = useCatalogue()
  const fillChosen = async () => {
    const found = await fill(chosen)
    setDrafts((before) => {
      let next = before
      for (const { row, draft } of found) next = withDraft(next, row, { draft, quotaPerUnit })
      return next
    })
    const isKnown = found.every(({ row, draft }) => withDraft(new Map(), row, { draft, quotaPerUnit }).size === 0)
    if (found.length > 0 && isKnown) notify.info(t('所选模型的价格已与目录一致'))
  }
  const show = (model: string) => set({ open: '', q: model, show: 'all' })
  const select = (models: readonly string[], on: boolean) =>
    setSelected((before) => {
      const next = new Set(before)
      for (const model of models) {
        if (on) next.add(model)
        else next.delete(model)
      }
      return next
    })
  /** What was typed since is still to be saved. */
  const done = (saved: Drafts) => {
    setDrafts((before) => new Map([...before].filter(([model, draft]) => saved.get(model) !== draft)))
    setAdded((before) => before.filter(({ model }) => !saved.has(model)))
  }

  return (
    <Frame
      title={t('模型与价格')}
      description={t('单位为美元每百万 tokens，乘以分组倍率后向用户收费。')}
      fill
      extra={
        <>
          <Button onClick={() => set({ open: 'buying' })}>
            <Receipt aria-hidden />
            {t('进价')}
          </Button>
          <Button onClick={() => set({ open: 'changes' })}>
            <CalendarClock aria-hidden />
            {t('调价计划')}
          </Button>
          {!readOnly && (
            <Button asChild>
              <Link href="/admin/settings?q=ModelRatio">
                <Braces aria-hidden />
                {t('JSON 与重置')}
              </Link>
            </Button>
          )}
        </>
      }
      action={
        !readOnly && (
          <Button variant="solid" onClick={() => set({ open: 'new' })}>
            <Plus aria-hidden />
            {t('添加模型')}
          </Button>
        )
      }
    >
      {query.error && query.data && <StaleNotice error={query.error} onRetry={query.refetch} />}
      <Box flexShrink="0">
        <FilterBar
          query={{ id: 'q', placeholder: t('搜索模型名称') }}
          values={values}
          onChange={set}
          extra={
            <>
              <SegmentGroup.Root
                size="sm"
                aria-label={t('显示')}
                value={views.has(values.show) ? values.show : 'all'}
                onValueChange={({ value }) => set({ show: value ?? 'all' })}
              >
                <SegmentGroup.Indicator />
                <SegmentGroup.Items items={[...views].map(([value, { label }]) => ({ value, label: t(label) }))} />
              </SegmentGroup.Root>
              <Text textStyle="xs" color="fg.muted" aria-live="polite">
                {query.data && t('{count} 个模型', { count: shown.length })}
              </Text>
              {chosen.length > 0 && !readOnly && (
                <HStack gap="2" ms={{ sm: 'auto' }} wrap="wrap">
                  <Text textStyle="sm">{t('已选 {count} 个', { count: chosen.length })}</Text>
                  <Button size="xs" onClick={() => set({ open: 'batch' })}>
                    <Layers aria-hidden />
                    {t('批量设置')}
                  </Button>
                  <Button size="xs" onClick={() => void fillChosen()}>
                    <BookOpenText aria-hidden />
                    {t('从价格目录填入')}
                  </Button>
                  <Button size="xs" variant="ghost" onClick={() => setSelected(new Set())}>
                    {t('取消选择')}
                  </Button>
                </HStack>
              )}
            </>
          }
        />
      </Box>
      {/* Below what is there from the beginning, which it would push away. */}
      {missing > 0 && values.show !== 'missing' && (
        <Notice
          tone="warning"
          action={
            <Button size="xs" onClick={() => set({ show: 'missing' })}>
              {t('查看')}
            </Button>
          }
        >
          {t('{count} 个正在提供的模型没有价格，用户调用会被拒绝或按兜底价格收费。', { count: missing })}
        </Notice>
      )}
      {query.error && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <Skeletons />
      ) : shown.length === 0 ? (
        <EmptyState
          title={values.show === 'missing' && missing === 0 ? t('所有模型都已设置价格') : t('没有匹配的模型')}
          action={<Button onClick={() => set({ q: '', show: 'all' })}>{t('清除筛选')}</Button>}
        />
      ) : (
        <PriceTable
          rows={shown}
          channelNames={channelNames}
          drafts={drafts}
          quotaPerUnit={quotaPerUnit}
          readOnly={readOnly}
          selected={selected}
          onSelect={select}
          onFigure={(row, figure, value) =>
            setDrafts((before) => withFigure(before, { row, figure, value, quotaPerUnit }))
          }
          onLongContext={({ model }) => set({ open: 'long-context', model })}
        />
      )}
      {drafts.size > 0 && (
        <SaveBar drafts={drafts} rows={rows} onDone={done} onRehearse={() => set({ open: 'rehearsal' })} />
      )}
      <RehearsalSheet
        change={
          values.open === 'rehearsal' && drafts.size > 0 && ![...drafts.values()].some(isUnreadable)
            ? changeOf(drafts, quotaPerUnit)
            : undefined
        }
        onClose={() => set({ open: '' })}
        onDone={() => done(drafts)}
      />
      <LongContextSheet
        opened={
          values.open === 'long-context' && priced
            ? { model: priced.model, draft: drafts.get(priced.model) ?? draftOf(priced, quotaPerUnit) }
            : undefined
        }
        readOnly={readOnly}
        onClose={() => set({ open: '', model: '' })}
        onSteps={(longContext) =>
          priced && setDrafts((before) => withLongContext(before, priced, { longContext, quotaPerUnit }))
        }
      />
      <ChangesSheet open={values.open === 'changes'} readOnly={readOnly} onClose={() => set({ open: '' })} />
      <BuyingPrices
        open={values.open === 'buying'}
        channels={query.data?.channels ?? []}
        unread={query.error && !query.data ? query : undefined}
        channelId={Number(values.channel) || undefined}
        onChannel={(id) => set({ channel: String(id) })}
        onClose={() => set({ open: '', channel: '' })}
      />
      <BatchSheet
        rows={values.open === 'batch' ? chosen : noRows}
        onClose={() => set({ open: '' })}
        drafts={drafts}
        onDrafts={setDrafts}
      />
      <NewModel
        open={values.open === 'new'}
        taken={rows.map(({ model }) => model)}
        onClose={() => set({ open: '' })}
        onAdd={(row) => {
          setAdded((before) => [row, ...before])
          show(row.model)
        }}
        onShow={show}
      />
    </Frame>
  )
}
