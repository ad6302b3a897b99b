import { Badge, Box, Button, HStack, Stack, Text } from '@chakra-ui/react'
import { confirm } from '../../components/confirm.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatTime, priceText } from '../../lib/format.ts'
import { ratioToDollars } from '#core/pricing/prices.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import type { RouterOutputs } from '#server/app-router.ts'

type Change = RouterOutputs['admin']['prices']['changes'][number]

const statusWords = () => ({
  pending: { label: t('待生效'), tone: 'warning' },
  applied: { label: t('已生效'), tone: 'good' },
  cancelled: { label: t('已取消'), tone: 'neutral' },
})

/** Price changes that are to come, and those that have been. */
export function ChangesSheet({ open, readOnly, onClose }: { open: boolean; readOnly: boolean; onClose: () => void }) {
  const query = trpc.admin.prices.changes.useQuery(undefined, { enabled: open })
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={t('调价计划')}
      description={t('修改价格后选择“预演与定时”来安排一次调价。')}
    >
      {query.error && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data?.length === 0 ? (
        <EmptyState title={t('没有调价计划')} />
      ) : (
        <Stack gap="3">
          {query.error && <StaleNotice error={query.error} onRetry={query.refetch} />}
          <Stack as="ul" listStyleType="none" gap="3">
            {query.data?.map((change) => (
              <One key={change.id} change={change} readOnly={readOnly} />
            ))}
          </Stack>
        </Stack>
      )}
    </Sheet>
  )
}

function One({ change, readOnly }: { change: Change; readOnly: boolean }) {
  const utils = trpc.useUtils()
  const cancel = trpc.admin.prices.cancel.useMutation()
  const { label, tone } = statusWords()[change.status]
  const ask = () =>
    confirm({
      title: t('取消 {time} 的调价？', { time: formatTime(change.effectiveAt) }),
      body: t('价格保持现在的样子。'),
      confirmLabel: t('取消调价'),
      cancelLabel: t('返回'),
      danger: true,
      run: async () => {
        await cancel.mutateAsync({ id: change.id })
        await utils.admin.prices.changes.refetch()
      },
    })
  return (
    <Box as="li" layerStyle="frame" p="3">
      <HStack gap="2" wrap="wrap" mb="2">
        <Badge colorPalette={tone}>{label}</Badge>
        <Text fontWeight="medium">{formatTime(change.effectiveAt)}</Text>
        <Text textStyle="xs" color="fg.muted">
          {change.createdBy}
        </Text>
        {change.status === 'pending' && !readOnly && (
          <Button size="2xs" ms="auto" onClick={() => void ask()}>
            {t('取消调价')}
          </Button>
        )}
      </HStack>
      {change.note && <Text textStyle="sm">{change.note}</Text>}
      <Lines change={change} />
    </Box>
  )
}

const mostLines = 12

function Lines({ change: { change } }: { change: Change }) {
  const { quotaPerUnit } = useStatus()
  const lines = [
    ...change.prices.map((price) => {
      if ('removed' in price) return `${price.model}: ${t('移除价格')}`
      if ('modelPrice' in price) return `${price.model}: ${priceText(price.modelPrice)} ${t('每次')}`
      const input = ratioToDollars(price.modelRatio, quotaPerUnit)
      const { completionRatio } = price
      const output = typeof completionRatio === 'number' ? ` / ${priceText(input * completionRatio)}` : ''
      const steps = price.longContext?.map(({ above, ...more }) => ` >${above}: ×${more.input} ×${more.output}`) ?? []
      return `${price.model}: ${priceText(input)}${output} / 1M${steps.join('')}`
    }),
    ...Object.entries(change.groupRatios).map(([group, ratio]) => t('分组 {group}：{ratio}', { group, ratio })),
  ]
  return (
    <Text textStyle="xs" fontFamily="mono" color="fg.muted" whiteSpace="pre-line" overflowWrap="anywhere">
      {lines.slice(0, mostLines).join('\n')}
      {lines.length > mostLines && `\n+${lines.length - mostLines}`}
    </Text>
  )
}
