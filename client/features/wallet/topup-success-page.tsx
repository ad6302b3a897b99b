import { Box, Button, HStack } from '@chakra-ui/react'
import { CircleCheck, Clock, Receipt } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Money } from '../../components/cells/numbers.tsx'
import { Facts } from '../../components/facts.tsx'
import { OrderStatus } from '../../components/order-status.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { receiptAddress } from './methods.ts'

const pollMs = 2000
const slowPollMs = 60_000

/** The order's number as our own address or the gateway's return names it. */
function orderOfAddress(): string {
  const query = new URLSearchParams(location.search)
  return query.get('order') ?? query.get('out_trade_no') ?? ''
}

/** Where gateways lead back to. What the address says proves nothing: the order itself is asked. */
export function Page() {
  const [tradeNo] = useState(orderOfAddress)
  const order = trpc.user.orders.get.useQuery(
    { tradeNo },
    {
      enabled: tradeNo !== '',
      retry: false,
      refetchInterval: ({ state }) =>
        state.data?.status === 'pending' ? pollMs : state.data?.status === 'processing' ? slowPollMs : false,
    },
  )
  const { data } = order
  const ways = (
    <HStack gap="2" wrap="wrap" justify="center">
      <Button asChild variant="solid">
        <Link href="/app/wallet">{t('返回钱包')}</Link>
      </Button>
      {order.data?.paidAt && (
        <Button asChild>
          <Link href={receiptAddress(order.data.tradeNo)}>{t('查看收据')}</Link>
        </Button>
      )}
      <Button asChild>
        <Link href="/">{t('返回首页')}</Link>
      </Button>
    </HStack>
  )
  const isPaid = data?.status === 'paid'
  const isProcessing = data?.status === 'processing'
  const isWaiting = isProcessing || data?.status === 'pending'
  const isMissing = order.error?.data?.domainCode === 'payment.order_unknown'
  return (
    <Frame title={isPaid ? t('充值成功') : t('充值结果')} width="form">
      <Box layerStyle="panel" aria-live="polite">
        {order.error && !data && !isMissing && <ErrorState error={order.error} onRetry={() => void order.refetch()} />}
        <EmptyState
          icon={isPaid ? CircleCheck : isWaiting ? Clock : Receipt}
          title={
            isPaid
              ? t('充值已到账')
              : isWaiting || order.isFetching
                ? t('正在等待支付结果')
                : data
                  ? t('订单没有支付成功')
                  : t('请在钱包中查看充值订单')
          }
          description={
            isProcessing
              ? t('您的付款正在处理，款项可能需要几天到账，请勿重复支付，可以离开此页。')
              : isWaiting
                ? t('支付完成后通常在一分钟内到账，可以离开此页。')
                : undefined
          }
          action={ways}
        />
        {data && (
          <Box px="6" pb="6">
            <Facts
              facts={[
                { label: t('订单号'), value: data.tradeNo },
                { label: t('状态'), value: <OrderStatus status={data.status} /> },
                { label: t('套餐'), value: data.planName, hidden: data.planName === null },
                { label: t('充值额度'), value: <Money quota={data.quota} />, hidden: data.planName !== null },
                { label: t('订单金额'), value: `${data.money} ${data.currency}` },
              ]}
            />
          </Box>
        )}
      </Box>
    </Frame>
  )
}
