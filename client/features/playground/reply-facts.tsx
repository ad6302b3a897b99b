import { HStack, Text } from '@chakra-ui/react'
import { Money } from '../../components/cells/numbers.tsx'
import { t } from '../../i18n/t.ts'
import { isRetried } from '../../lib/query.ts'
import { formatDuration, formatInteger } from '../../lib/format.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import type { ListPrice } from './models.ts'
import { estimateQuota } from './models.ts'
import type { Reply } from './reply.ts'
import { speedOf } from './reply.ts'

/**
 * The row is there before the last byte of a complete answer; after a stop, or where the connection broke, it takes a moment, on a
 * busy site a minute. A call that failed before anything came is not charged.
 */
const attempts = 12
const retryDelay = (failures: number): number => Math.min(400 * 1.6 ** failures, 10_000)

const brokeOff = ({ stopped, status, firstAt }: Reply): boolean =>
  stopped || (status === 'error' && firstAt !== undefined)

function useCharge(reply: Reply) {
  const ended = reply.endedAt !== undefined && reply.requestId !== ''
  const log = trpc.user.logs.get.useQuery(
    { requestId: reply.requestId },
    {
      enabled: ended,
      staleTime: Number.POSITIVE_INFINITY,
      retry: (failures, error) => (brokeOff(reply) ? failures < attempts : isRetried(failures, error)),
      retryDelay,
    },
  )
  return log.data
}

/** What a reply cost, how much it was, and how quick. */
export function ReplyFacts({ reply, price }: { reply: Reply; price: ListPrice | undefined }) {
  const { quotaPerUnit } = useStatus()
  const log = useCharge(reply)
  if (reply.endedAt === undefined) return null
  const prompt = reply.usage?.promptTokens ?? log?.promptTokens
  const completion = reply.usage?.completionTokens ?? log?.completionTokens
  const speed = completion === undefined ? undefined : speedOf(reply, completion)
  const estimate = price && reply.usage && estimateQuota(price, reply.usage, quotaPerUnit)
  return (
    <HStack as="div" gap="3" rowGap="0" wrap="wrap" textStyle="xs" color="fg.muted">
      {log ? (
        <Text as="span" data-charge="exact">
          <Money quota={log.quota} digits={6} />
        </Text>
      ) : (
        estimate !== undefined && (
          <Text as="span" data-tip={t('按价格表估算')}>
            ≈ <Money quota={Math.ceil(estimate)} digits={6} />
          </Text>
        )
      )}
      {prompt !== undefined && completion !== undefined && (
        <Text as="span">
          {t('输入 {prompt}，输出 {completion} token', {
            prompt: formatInteger(prompt),
            completion: formatInteger(completion),
          })}
        </Text>
      )}
      {speed !== undefined && <Text as="span">{t('{speed} token/秒', { speed: speed.toFixed(1) })}</Text>}
      {reply.firstAt !== undefined && (
        <Text as="span">{t('首字 {time}', { time: formatDuration(reply.firstAt - reply.startedAt) })}</Text>
      )}
      <Text as="span">{t('用时 {time}', { time: formatDuration(reply.endedAt - reply.startedAt) })}</Text>
    </HStack>
  )
}
