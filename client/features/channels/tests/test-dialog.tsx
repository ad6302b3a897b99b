import { Button, Dialog, HStack, Input, NativeSelect, Progress, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Play, RotateCcw, Square, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Check } from '../../../components/check.tsx'
import { confirm } from '../../../components/confirm.tsx'
import { notify } from '../../../components/notify.ts'
import { EmptyState, ErrorState } from '../../../components/states.tsx'
import { LongDialog } from '../../../components/long-dialog.tsx'
import { t } from '../../../i18n/t.ts'
import { trpc } from '../../../lib/trpc.ts'
import { PricesDialog } from '../models/prices-dialog.tsx'
import { useChannelActions } from '../use-channel-actions.ts'
import { hasFailed } from './result-cache.ts'
import { TestRow } from './test-row.tsx'
import { concurrencyLimits } from './run-tests.ts'
import type { TestRun } from './use-test-run.ts'
import { useTestRun } from './use-test-run.ts'

type Channel = RouterOutputs['admin']['channels']['get']

/** Tries the models of one channel with small real calls, one or many at once. */
export function TestDialog({ id, onClose }: { id: number; onClose: () => void }) {
  const detail = trpc.admin.channels.get.useQuery({ id }, { gcTime: 0 })
  const run = useTestRun(id)
  return (
    <LongDialog
      title={t('测试模型')}
      description={detail.data ? `#${id} ${detail.data.name}` : `#${id}`}
      size="lg"
      closesOutside={run.progress === undefined}
      onClose={onClose}
    >
      {detail.data && !run.isPending ? (
        <Tests channel={detail.data} run={run} />
      ) : (
        <Dialog.Body pb="6">
          {detail.isError ? (
            <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
          ) : (
            <Stack gap="3">
              {[0, 1, 2, 3].map((row) => (
                <Skeleton key={row} h="8" />
              ))}
            </Stack>
          )}
        </Dialog.Body>
      )}
    </LongDialog>
  )
}

function Tests({ channel, run }: { channel: Channel; run: TestRun }) {
  const { models } = channel
  const [typed, setTyped] = useState('')
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const [unpriced, setUnpriced] = useState<readonly string[]>()
  const shown = models.filter((model) => model.toLowerCase().includes(typed.trim().toLowerCase()))
  const failed = models.filter((model) => hasFailed(run.results[model]))
  const chosen = models.filter((model) => picked.has(model))
  const isRunning = run.progress !== undefined
  const pick = (names: readonly string[], on: boolean) => {
    const next = new Set(picked)
    for (const name of names) {
      if (on) next.add(name)
      else next.delete(name)
    }
    setPicked(next)
  }
  const shownPicked = shown.filter((model) => picked.has(model)).length
  if (models.length === 0) {
    return (
      <Dialog.Body>
        <EmptyState title={t('没有可测试的模型')} />
      </Dialog.Body>
    )
  }
  return (
    <>
      <Stack gap="3" px="6" pb="3" flexShrink="0">
        <HStack gap="2">
          <Input
            value={typed}
            placeholder={t('搜索模型')}
            aria-label={t('搜索模型')}
            onChange={(event) => setTyped(event.target.value)}
          />
          <Concurrency run={run} disabled={isRunning} />
        </HStack>
        <HStack gap="2" minH="7">
          <Check
            aria-label={t('全选')}
            checked={shownPicked === 0 ? false : shownPicked === shown.length ? true : 'some'}
            onChange={(on) => pick(shown, on)}
          />
          {run.progress ? <RunProgress run={run} /> : <Summary models={models} run={run} picked={chosen.length} />}
        </HStack>
      </Stack>
      <Dialog.Body pt="0">
        <Stack gap="0" as="ul" listStyleType="none" aria-label={t('测试结果')}>
          {shown.map((model) => (
            <TestRow
              key={model}
              model={model}
              result={run.results[model]}
              isRunning={run.running.has(model)}
              canStart={!isRunning}
              picked={picked.has(model)}
              onPick={(on) => pick([model], on)}
              onTest={() => void run.start([model])}
              onPrice={() => setUnpriced([model])}
            />
          ))}
        </Stack>
      </Dialog.Body>
      <Dialog.Footer flexWrap="wrap" borderTopWidth="1px" pt="3">
        {!isRunning && models.some((model) => run.results[model]) && (
          <FailedActs channel={channel} failed={failed} run={run} />
        )}
        {isRunning ? (
          <Button onClick={run.cancel}>
            <Square aria-hidden />
            {t('取消测试')}
          </Button>
        ) : (
          <Button variant="solid" onClick={() => void run.start(chosen.length > 0 ? chosen : models)}>
            <Play aria-hidden />
            {chosen.length > 0
              ? t('测试选中的 {count} 个', { count: chosen.length })
              : t('测试全部 {count} 个', { count: models.length })}
          </Button>
        )}
      </Dialog.Footer>
      {unpriced && <PricesDialog models={unpriced} onClose={() => setUnpriced(undefined)} />}
    </>
  )
}

function Concurrency({ run, disabled }: { run: TestRun; disabled: boolean }) {
  const { least, most } = concurrencyLimits
  return (
    <HStack gap="2" flexShrink="0">
      <Text textStyle="sm" color="fg.muted">
        {t('并发')}
      </Text>
      <NativeSelect.Root w="16" disabled={disabled}>
        <NativeSelect.Field
          aria-label={t('并发数')}
          value={run.concurrency}
          onChange={(event) => run.setConcurrency(Number(event.target.value))}
        >
          {Array.from({ length: most - least + 1 }, (_, index) => (
            <option key={index} value={least + index}>
              {least + index}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </HStack>
  )
}

function RunProgress({ run }: { run: TestRun }) {
  const { done, total } = run.progress ?? { done: 0, total: 1 }
  return (
    <HStack gap="3" flex="1">
      <Progress.Root flex="1" size="sm" value={done} max={total}>
        <Progress.Track aria-label={t('测试进度')}>
          <Progress.Range />
        </Progress.Track>
      </Progress.Root>
      <Text textStyle="sm" role="status" fontVariantNumeric="tabular-nums">
        {done}/{total}
      </Text>
    </HStack>
  )
}

function Summary({ models, run, picked }: { models: readonly string[]; run: TestRun; picked: number }) {
  const results = models.map((model) => run.results[model])
  const good = results.filter((result) => result?.success).length
  const bad = results.filter(hasFailed).length
  return (
    <Text textStyle="sm" color="fg.muted" role="status">
      {picked > 0
        ? t('已选择 {count} 项', { count: picked })
        : good + bad === 0
          ? t('{count} 个模型，都没有测试过', { count: models.length })
          : t('成功 {good}，失败 {bad}，未测试 {rest}', {
              good,
              bad,
              rest: models.length - good - bad,
            })}
    </Text>
  )
}

function FailedActs({ channel, failed, run }: { channel: Channel; failed: readonly string[]; run: TestRun }) {
  const { refresh } = useChannelActions()
  const update = trpc.admin.channels.update.useMutation()
  const remove = async () => {
    const rest = channel.models.filter((model) => !failed.includes(model))
    if (rest.length === 0) {
      notify.warning(t('没有删除：删除后渠道将没有任何模型'))
      return
    }
    await confirm({
      title: t('从「{name}」删除 {count} 个失败的模型？', { name: channel.name, count: failed.length }),
      body: failed.join('、'),
      confirmLabel: t('删除'),
      danger: true,
      run: async () => {
        await update.mutateAsync({ id: channel.id, models: rest, expected: { models: channel.models } })
        notify.success(t('已删除 {count} 个模型', { count: failed.length }))
        await refresh()
      },
    })
  }
  return (
    <HStack gap="2" me="auto" wrap="wrap">
      <Button
        disabled={failed.length === 0}
        data-tip={failed.length === 0 ? t('没有可重试的失败模型') : undefined}
        onClick={() => void run.start(failed, true)}
      >
        <RotateCcw aria-hidden />
        {failed.length === 0 ? t('重试失败的模型') : t('重试失败的 {count} 个', { count: failed.length })}
      </Button>
      {failed.length > 0 && (
        <Button variant="surface" colorPalette="bad" onClick={() => void remove()}>
          <Trash2 aria-hidden />
          {t('删除失败的模型')}
        </Button>
      )}
    </HStack>
  )
}
