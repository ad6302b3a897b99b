import { Button, HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Code } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { OrderStatus } from '../../components/order-status.tsx'
import { ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import { eventName, gatewayName, mayComplete, mayReverse, type Order, type OrderEvent } from './words.ts'

type OrderPanelProps = { id: number; act: (kind: 'complete' | 'reverse', order: Order) => void }

/** Everything that is known of an order, and what an administrator may do with it. */
export function OrderPanel({ id, act }: OrderPanelProps) {
  const { data: order, error, refetch } = trpc.admin.orders.get.useQuery({ id })
  const { role } = useSession()
  if (error && !order) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!order) return <Skeleton h="64" />
  return (
    <Stack gap="6">
      {error && <StaleNotice error={error} onRetry={refetch} />}
      <Facts
        facts={[
          { label: t('状态'), value: <OrderStatus status={order.status} /> },
          { label: t('用户'), value: `${order.username || '—'} #${order.userId}` },
          { label: t('套餐'), value: order.planName, hidden: order.planName === null },
          { label: t('充值额度'), value: <Money quota={order.quota} />, hidden: order.planName !== null },
          { label: t('订单金额'), value: `${order.money} ${order.currency}` },
          { label: t('已退款'), value: `${order.refunded} ${order.currency}`, hidden: order.refunded === null },
          { label: t('支付渠道'), value: t(gatewayName(order.gateway)) },
          { label: t('商户'), value: <Code>{order.merchant}</Code> },
          { label: t('渠道订单号'), value: <Code>{order.paymentId}</Code> },
          { label: t('支付页编号'), value: <Code>{order.checkoutId}</Code>, hidden: order.checkoutId === null },
          { label: t('创建时间'), value: <Time value={order.createdAt} exact /> },
          { label: t('支付时间'), value: <Time value={order.paidAt} exact /> },
          {
            label: t('收回时间'),
            value: <Time value={order.reversedAt} exact />,
            hidden: order.reversedAt === null,
          },
        ]}
      />
      <HStack gap="2">
        {mayComplete(order, role) && <Button onClick={() => act('complete', order)}>{t('补单')}</Button>}
        {mayReverse(order, role) && (
          <Button variant="surface" colorPalette="bad" onClick={() => act('reverse', order)}>
            {t('收回额度')}
          </Button>
        )}
      </HStack>
      <Section title={t('订单经过')}>
        {order.events.length === 0 ? (
          <Text color="fg.muted" textStyle="sm">
            {t('还没有收到支付通知')}
          </Text>
        ) : (
          <Stack as="ol" gap="3" listStyleType="none">
            {order.events.map((event) => (
              <EventLine key={event.id} event={event} />
            ))}
          </Stack>
        )}
      </Section>
    </Stack>
  )
}

function EventLine({ event }: { event: OrderEvent }) {
  const { what, reason, money } = event.detail
  const words = [what, money, reason, event.actorName].filter((word) => word !== undefined && word !== '')
  return (
    <Stack as="li" gap="0.5" textStyle="sm">
      <HStack justify="space-between" gap="3">
        <Text fontWeight="medium">{t(eventName(event.kind))}</Text>
        <Time value={event.createdAt} />
      </HStack>
      {words.length > 0 && (
        <Text color="fg.muted" overflowWrap="anywhere">
          {words.join(' · ')}
        </Text>
      )}
    </Stack>
  )
}
