import { Button, Dialog, HStack, Progress, Spinner, Stack, Text } from '@chakra-ui/react'
import { useEffect, useRef, useState } from 'react'
import { Status } from '../../../components/status.tsx'
import { LongDialog } from '../../../components/long-dialog.tsx'
import { t } from '../../../i18n/t.ts'
import { PricesDialog } from '../models/prices-dialog.tsx'

type Named = { id: number; name: string }
type JobResult = {
  ok: boolean
  text: string
  /** A model that was refused for want of a price. */
  unpriced?: string | undefined
}

/** One act for each of many channels. */
export type Job = {
  title: string
  channels: readonly Named[]
  /** Answers with its failure instead of throwing. */
  act: (channel: Named, signal: AbortSignal) => Promise<JobResult>
}

const atOnce = 3

/** Works through a job and shows what became of each channel; closing it early calls off the rest. */
export function JobDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { results, running, isOver, cancel } = useJob(job)
  const [pricing, setPricing] = useState<readonly string[]>()
  const unpriced = [...new Set([...results.values()].flatMap((result) => result.unpriced ?? []))]
  const failed = [...results.values()].filter((result) => !result.ok).length
  const close = () => {
    cancel()
    onClose()
  }
  return (
    <LongDialog title={job.title} size="md" closesOutside={isOver} onClose={close}>
      <Stack gap="2" px="6" pb="3">
        <Progress.Root size="sm" value={results.size} max={job.channels.length}>
          <Progress.Track aria-label={job.title}>
            <Progress.Range />
          </Progress.Track>
        </Progress.Root>
        <Text role="status" textStyle="sm" color="fg.muted">
          {t('已完成 {done}/{total}，失败 {failed}', {
            done: results.size,
            total: job.channels.length,
            failed,
          })}
        </Text>
      </Stack>
      <Dialog.Body>
        <Stack as="ul" gap="0" listStyleType="none" aria-label={t('结果')}>
          {job.channels.map((channel) => (
            <Line
              key={channel.id}
              channel={channel}
              result={results.get(channel.id)}
              isRunning={running.has(channel.id)}
            />
          ))}
        </Stack>
      </Dialog.Body>
      <Dialog.Footer>
        {unpriced.length > 0 && isOver && (
          <Button me="auto" onClick={() => setPricing(unpriced)}>
            {t('为 {count} 个模型设置价格', { count: unpriced.length })}
          </Button>
        )}
        {isOver ? (
          <Button variant="solid" onClick={close}>
            {t('完成')}
          </Button>
        ) : (
          <Button onClick={close}>{t('取消')}</Button>
        )}
      </Dialog.Footer>
      {pricing && <PricesDialog models={pricing} onClose={() => setPricing(undefined)} />}
    </LongDialog>
  )
}

type LineProps = { channel: Named; result: JobResult | undefined; isRunning: boolean }

function Line({ channel, result, isRunning }: LineProps) {
  return (
    <Stack as="li" gap="0.5" py="1.5" borderBottomWidth="1px" borderColor="border.muted" textStyle="sm">
      <HStack gap="3">
        <Text as="span" color="fg.muted" minW="8">
          {channel.id}
        </Text>
        <Text as="span" flex="1" minW="0" truncate>
          {channel.name}
        </Text>
        {isRunning && <Spinner size="xs" aria-label={t('进行中')} />}
        {result && (
          <Status tone={result.ok ? 'good' : 'bad'}>{result.ok ? result.text || t('成功') : t('失败')}</Status>
        )}
      </HStack>
      {result && !result.ok && (
        <Text ps="11" textStyle="xs" color="fg.muted" overflowWrap="anywhere" lineClamp={3}>
          {result.text}
        </Text>
      )}
    </Stack>
  )
}

function useJob(job: Job) {
  const [results, setResults] = useState<ReadonlyMap<number, JobResult>>(new Map())
  const [running, setRunning] = useState<ReadonlySet<number>>(new Set())
  const [isOver, setOver] = useState(false)
  const abort = useRef<AbortController>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    abort.current = controller
    const { signal } = controller
    const waiting = [...job.channels]
    const work = async () => {
      for (let channel = waiting.shift(); channel && !signal.aborted; channel = waiting.shift()) {
        const { id } = channel
        setRunning((before) => new Set(before).add(id))
        const result = await job.act(channel, signal)
        if (signal.aborted) return
        setRunning((before) => new Set([...before].filter((other) => other !== id)))
        setResults((before) => new Map(before).set(id, result))
      }
    }
    void Promise.all(Array.from({ length: atOnce }, work)).then(() => !signal.aborted && setOver(true))
    return () => controller.abort()
  }, [job])
  return { results, running, isOver, cancel: () => abort.current?.abort() }
}
