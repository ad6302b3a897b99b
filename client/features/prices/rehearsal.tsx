import { Button, Field, HStack, Input, SimpleGrid, Stack, Table, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { Section } from '../../components/facts.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { amountText, formatInteger, formatTime, priceText, quotaText } from '../../lib/format.ts'
import { comingHour, fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterInputs, RouterOutputs } from '#server/app-router.ts'

type Change = RouterInputs['admin']['prices']['rehearse']['change']
type Rehearsal = RouterOutputs['admin']['prices']['rehearse']

type RehearsalSheetProps = { change: Change | undefined; onClose: () => void; onDone: () => void }

/** What the last days would have brought under the prices as typed, and when they are to come into force. */
export function RehearsalSheet({ change, onClose, onDone }: RehearsalSheetProps) {
  const [days, setDays] = useState(7)
  const query = trpc.admin.prices.rehearse.useQuery(
    { change: change ?? { prices: [], groupRatios: {} }, days },
    {
      enabled: change !== undefined,
      staleTime: 0,
      refetchOnWindowFocus: false,
      // Hundreds of models may be priced at once.
      trpc: { context: { long: true } },
    },
  )
  return (
    <Sheet
      open={change !== undefined}
      onClose={onClose}
      title={t('调价预演')}
      description={t('按日志中每次调用的用量，用修改后的价格重新计算。')}
    >
      <Stack gap="6">
        <HStack gap="2">
          {[1, 7, 30].map((count) => (
            <Button
              key={count}
              size="xs"
              variant={days === count ? 'solid' : 'outline'}
              aria-pressed={days === count}
              onClick={() => setDays(count)}
            >
              {t('近 {count} 天', { count })}
            </Button>
          ))}
        </HStack>
        {query.error ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Result rehearsal={query.data} />
        )}
        {change && (
          <ScheduleForm
            change={change}
            onScheduled={() => {
              onDone()
              onClose()
            }}
          />
        )}
      </Stack>
    </Sheet>
  )
}

const changeText = (before: number, after: number): string =>
  `${after >= before ? '+' : ''}${amountText(after - before)}`

function Result({ rehearsal }: { rehearsal: Rehearsal | undefined }) {
  const { quotaPerUnit } = useStatus()
  const loading = rehearsal === undefined
  const marginOf = ({ costedQuota, cost }: Rehearsal['before']) => costedQuota / quotaPerUnit - cost / 1e9
  return (
    <Stack gap="5" aria-busy={loading}>
      <SimpleGrid columns={{ base: 1, sm: 3 }} gap="3">
        <StatTile
          label={t('收入')}
          loading={loading}
          value={rehearsal && quotaText(rehearsal.after.quota)}
          note={rehearsal && changeText(rehearsal.before.quota, rehearsal.after.quota)}
        />
        <StatTile
          label={t('毛利')}
          loading={loading}
          value={rehearsal && (rehearsal.after.costedQuota === 0 ? '–' : priceText(marginOf(rehearsal.after)))}
          note={
            rehearsal &&
            (rehearsal.after.costedQuota === 0
              ? t('没有填写进价')
              : `${marginOf(rehearsal.after) >= marginOf(rehearsal.before) ? '+' : ''}${priceText(marginOf(rehearsal.after) - marginOf(rehearsal.before))}`)
          }
        />
        <StatTile label={t('调用')} loading={loading} value={rehearsal && formatInteger(rehearsal.calls)} />
      </SimpleGrid>
      {rehearsal && !rehearsal.complete && (
        <Notice tone="warning">{t('调用太多，只计算了最近的 {count} 次。', { count: rehearsal.calls })}</Notice>
      )}
      {rehearsal && rehearsal.unchanged > 0 && (
        <Notice>{t('{count} 次调用没有用量记录，按原金额计入。', { count: rehearsal.unchanged })}</Notice>
      )}
      {rehearsal && rehearsal.unpriced.length > 0 && (
        <Notice tone="bad" title={t('这些模型将没有价格，调用会被拒绝')}>
          {rehearsal.unpriced.map(({ model, calls }) => t('{model}（{calls} 次）', { model, calls })).join(' · ')}
        </Notice>
      )}
      {rehearsal && rehearsal.users.length > 0 && (
        <Section title={t('影响最大的用户')}>
          <Differences
            rows={rehearsal.users.map(({ userId, username, ...money }) => ({
              key: `#${userId} ${username}`,
              ...money,
            }))}
          />
        </Section>
      )}
      {rehearsal && rehearsal.models.length > 0 && (
        <Section title={t('各模型的变化')}>
          <Differences rows={rehearsal.models.map(({ model, before, after }) => ({ key: model, before, after }))} />
        </Section>
      )}
      {rehearsal && rehearsal.calls > 0 && rehearsal.models.length === 0 && rehearsal.unpriced.length === 0 && (
        <Text textStyle="sm" color="fg.muted">
          {t('这段时间没有用到这些模型，金额不变。')}
        </Text>
      )}
    </Stack>
  )
}

function Differences({ rows }: { rows: { key: string; before: number; after: number }[] }) {
  return (
    <Table.Root size="sm">
      <Table.Header>
        <Table.Row>
          <Table.ColumnHeader />
          <Table.ColumnHeader textAlign="end">{t('原来')}</Table.ColumnHeader>
          <Table.ColumnHeader textAlign="end">{t('调价后')}</Table.ColumnHeader>
          <Table.ColumnHeader textAlign="end">{t('变化')}</Table.ColumnHeader>
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {rows.slice(0, 10).map(({ key, before, after }) => (
          <Table.Row key={key}>
            <Table.Cell maxW="44" truncate data-tip={key}>
              {key}
            </Table.Cell>
            <Table.Cell textAlign="end">{amountText(before)}</Table.Cell>
            <Table.Cell textAlign="end">{amountText(after)}</Table.Cell>
            <Table.Cell textAlign="end">{changeText(before, after)}</Table.Cell>
          </Table.Row>
        ))}
      </Table.Body>
    </Table.Root>
  )
}

function ScheduleForm({ change, onScheduled }: { change: Change; onScheduled: () => void }) {
  const utils = trpc.useUtils()
  const schedule = trpc.admin.prices.schedule.useMutation()
  const [at, setAt] = useState(() => toLocalInput(comingHour(new Date())))
  const [note, setNote] = useState('')
  const submit = async () => {
    const effectiveAt = fromLocalInput(at)
    if (!effectiveAt) return notify.warning(t('请填写调价时间'))
    try {
      await schedule.mutateAsync({ change, effectiveAt, note })
      void utils.admin.prices.invalidate()
      notify.success(t('将于 {time} 生效', { time: formatTime(effectiveAt) }))
      onScheduled()
    } catch (error) {
      notify.error(error, t('保存失败'))
    }
  }
  return (
    <Section title={t('定时生效')}>
      <Stack gap="3">
        <Field.Root>
          <Field.Label>{t('调价时间')}</Field.Label>
          <Input type="datetime-local" value={at} onChange={(event) => setAt(event.target.value)} />
          <Field.HelperText>{t('到时所有节点同时使用新价格；此前已开始的调用仍按原价。')}</Field.HelperText>
        </Field.Root>
        <Field.Root>
          <Field.Label>{t('备注')}</Field.Label>
          <Input value={note} maxLength={500} onChange={(event) => setNote(event.target.value)} />
        </Field.Root>
        <Button alignSelf="flex-start" loading={schedule.isPending} onClick={() => void submit()}>
          {t('安排调价')}
        </Button>
      </Stack>
    </Section>
  )
}
