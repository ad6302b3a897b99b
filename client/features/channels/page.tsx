import { Button } from '@chakra-ui/react'
import { Network, Plus, RefreshCw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as PageFrame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { BulkBar } from './bulk/bulk-bar.tsx'
import { JobDialog } from './bulk/job-dialog.tsx'
import { PageMenu } from './bulk/page-menu.tsx'
import { RunStrip } from './bulk/run-strip.tsx'
import { useJobs } from './bulk/use-jobs.ts'
import { useRuns } from './bulk/use-runs.ts'
import { ChannelPanel } from './detail/panel.tsx'
import { ChannelDrawer } from './form/drawer.tsx'
import { channelColumns } from './list/columns.tsx'
import { rowActions } from './list/row-actions.ts'
import type { Opening } from './list/row-cells.tsx'
import { nameOf, toChannelRow } from './list/rows.ts'
import type { Row } from './list/rows.ts'
import { ChannelToolbar } from './list/toolbar.tsx'
import { useChannelList } from './list/use-channel-list.ts'
import { PricesDialog } from './models/prices-dialog.tsx'
import { useUnpricedOffer } from './models/use-unpriced-offer.ts'
import { TagDrawer } from './tag-drawer.tsx'
import { TestDialog } from './tests/test-dialog.tsx'
import { useChannelActions } from './use-channel-actions.ts'
import { useOpened } from './use-opened.ts'

const rowId = (row: Row) => row.id

export function Page() {
  const list = useChannelList()
  const actions = useChannelActions()
  const opened = useOpened()
  const jobs = useJobs()
  const runs = useRuns()
  const unpriced = useUnpricedOffer(opened.state.form !== '')
  const utils = trpc.useUtils()
  const { open } = opened
  const { toggleTag, probesOf, driftOf, unpricedOf, cooldownsOf, idsOfPage } = list
  const [pricing, setPricing] = useState<readonly string[]>()
  const [names, setNames] = useState<ReadonlyMap<number, string>>(new Map())
  const opening: Opening = useMemo(
    () => ({
      test: ({ id }) => open({ test: id }),
      edit: ({ id }) => open({ form: String(id) }),
      editTag: (tag) => open({ editTag: tag }),
      price: setPricing,
    }),
    [open],
  )
  const columns = channelColumns({ actions, opening, probesOf, driftOf, unpricedOf, cooldownsOf, idsOfPage, toggleTag })
  const matchingIds = async () => {
    const found = await utils.admin.channels.matching.fetch(list.input, { staleTime: 0 })
    setNames(new Map(found.map(({ id, name }) => [id, name])))
    return found.map(({ id }) => id)
  }

  return (
    <PageFrame
      title={t('管理渠道')}
      fill
      action={
        <Button variant="solid" onClick={() => open({ form: 'new' })}>
          <Plus aria-hidden />
          {t('添加渠道')}
        </Button>
      }
      extra={
        <>
          <PageMenu actions={actions} runs={runs} />
          <IconButton
            icon={RefreshCw}
            label={t('刷新')}
            variant="outline"
            loading={list.query.isFetching && !list.query.isLoading}
            onClick={() => void actions.refresh()}
          />
        </>
      }
    >
      {runs.going.map((run) => (
        <RunStrip key={run.name} run={run} onCancel={runs.cancel} />
      ))}
      <DataTable
        id="channels"
        label={t('渠道')}
        columns={columns}
        rowId={rowId}
        rowLabel={nameOf}
        query={list.query}
        paging={list.table}
        sort={list.table.sort}
        onSort={list.table.setSort}
        toolbar={<ChannelToolbar list={list} />}
        rowActions={(row) => rowActions(row, { actions, opening, driftOf, unpricedOf, toggleTag })}
        onOpen={(row) => (row.kind === 'tag' ? toggleTag(row.tag) : open({ open: row.id }))}
        openRow={opened.state.open || undefined}
        isMuted={(row) => row.kind === 'channel' && row.channel.status !== 1}
        bulk={
          list.isBatch
            ? {
                filters: { ...list.filters, folds: list.folds },
                actions: (selection) => <BulkBar selection={selection} actions={actions} jobs={jobs} names={names} />,
                matchingIds: list.folds ? undefined : matchingIds,
              }
            : undefined
        }
        csvName="channels"
        csvPage={async (page, pageSize) => {
          const ordered = { ...list.input, sort: 'id' as const, ascending: false, tagMode: false }
          const found = await utils.admin.channels.list.fetch({ ...ordered, page, pageSize })
          return { items: found.items.map((channel) => toChannelRow(channel)), total: found.total }
        }}
        empty={<NoChannels isFiltered={list.isFiltered} onAdd={() => open({ form: 'new' })} folds={list.folds} />}
      />
      <ChannelPanel
        id={opened.state.open}
        channels={list.channels}
        opening={opening}
        actions={actions}
        onOpen={(id) => open({ open: id }, { replace: true })}
        onClose={() => open({ open: 0 })}
      />
      {opened.state.test !== 0 && <TestDialog id={opened.state.test} onClose={() => open({ test: 0 })} />}
      {jobs.job && <JobDialog job={jobs.job} onClose={jobs.close} />}
      <TagDrawer tag={opened.state.editTag} onClose={() => open({ editTag: '' })} />
      <ChannelDrawer
        form={opened.state.form}
        onClose={opened.closeForm}
        onSaved={(saved) => unpriced.offer(saved.unpriced)}
      />
      {pricing && <PricesDialog models={pricing} onClose={() => setPricing(undefined)} />}
      {unpriced.offered && (
        <PricesDialog
          models={unpriced.offered}
          intro={t('渠道已保存。其中有模型没有价格，普通用户调用时会被拒绝。')}
          onClose={unpriced.close}
        />
      )}
    </PageFrame>
  )
}

type NoChannelsProps = { isFiltered: boolean; folds: boolean; onAdd: () => void }

function NoChannels({ isFiltered, folds, onAdd }: NoChannelsProps) {
  if (isFiltered) return <EmptyState icon={Network} title={t('没有符合条件的渠道')} />
  if (folds) {
    return (
      <EmptyState
        icon={Network}
        title={t('没有带标签的渠道')}
        description={t('聚合后只显示带标签的渠道；关闭“按标签聚合”可看到全部。')}
      />
    )
  }
  return (
    <EmptyState
      icon={Network}
      title={t('还没有渠道')}
      description={t('渠道是到一个模型提供商的连接；至少要有一个，令牌才能调用模型。')}
      action={
        <Button variant="solid" onClick={onAdd}>
          <Plus aria-hidden />
          {t('添加渠道')}
        </Button>
      }
    />
  )
}
