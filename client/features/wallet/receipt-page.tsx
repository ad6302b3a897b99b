import { Box, Button, Flex, Grid, Heading, HStack, Separator, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Printer, Receipt, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { OrderStatus } from '../../components/order-status.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { formatExactTime, quotaText } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { type Order, orderMethod } from './methods.ts'

/** One order as it is handed to a bookkeeper: what was bought, for how much, by whom and when. */
export function Page() {
  const [{ order: tradeNo }] = useUrlState({ order: '' })
  const order = trpc.user.orders.get.useQuery({ tradeNo }, { enabled: tradeNo !== '', retry: false })
  const isPaid = order.data?.paidAt !== null
  return (
    <Frame
      title={isPaid ? t('收据') : t('订单')}
      width="form"
      action={
        order.data && (
          <Button variant="solid" onClick={() => window.print()} _print={{ display: 'none' }}>
            <Printer aria-hidden />
            {t('打印')}
          </Button>
        )
      }
      extra={
        <Button asChild _print={{ display: 'none' }}>
          <Link href="/app/wallet">{t('返回钱包')}</Link>
        </Button>
      }
    >
      {order.data ? (
        <Sheet order={order.data} />
      ) : tradeNo === '' ? (
        <EmptyState icon={Receipt} title={t('请在钱包中选择一个订单')} />
      ) : refusalCode(order.error) === 'payment.order_unknown' ? (
        <EmptyState
          icon={SearchX}
          title={t('订单不存在')}
          action={
            <Button asChild>
              <Link href="/app/wallet">{t('返回钱包')}</Link>
            </Button>
          }
        />
      ) : order.error ? (
        <ErrorState error={order.error} onRetry={() => void order.refetch()} />
      ) : (
        <Skeleton h="96" aria-busy />
      )}
    </Frame>
  )
}

function Sheet({ order }: { order: Order }) {
  const { systemName, serverAddress } = useStatus()
  const { user } = useSession()
  const item = order.planName === null ? t('账户充值') : t('套餐「{name}」', { name: order.planName })
  const money = `${order.money} ${order.currency}`
  const isPaid = order.paidAt !== null
  const isOpen = order.status === 'pending' || order.status === 'processing'
  const total = isPaid ? t('已付合计') : isOpen ? t('应付合计') : t('合计')
  return (
    <Stack gap="6" layerStyle="panel" p={{ base: '4', sm: '8' }} _print={{ border: '0', p: '0' }}>
      <Flex justify="space-between" gap="4" wrap="wrap">
        <Stack gap="0.5">
          <Heading as="h2" textStyle="lg">
            {systemName}
          </Heading>
          <Text color="fg.muted" textStyle="sm" overflowWrap="anywhere">
            {serverAddress || window.location.origin}
          </Text>
        </Stack>
        <OrderStatus status={order.status} />
      </Flex>
      <Grid as="dl" templateColumns={{ base: '1fr', sm: 'repeat(2, minmax(0, 1fr))' }} gap="4" textStyle="sm">
        <Fact label={t('订单号')} value={order.tradeNo} />
        <Fact label={isPaid ? t('付款人') : t('用户')} value={buyerText(user)} />
        <Fact label={t('创建时间')} value={formatExactTime(order.createdAt)} />
        <Fact label={t('支付时间')} value={order.paidAt ? formatExactTime(order.paidAt) : t('未支付')} />
        <Fact label={t('支付方式')} value={t(orderMethod(order))} />
      </Grid>
      <Stack gap="0" textStyle="sm">
        <Line strong label={t('明细')} value={t('金额')} />
        <Separator />
        <Line label={item} note={order.planName === null ? creditText(order) : undefined} value={money} />
        <Separator />
        <Line strong label={total} value={money} />
        {order.refunded !== null && <Line label={t('其中已退款')} value={`${order.refunded} ${order.currency}`} />}
      </Stack>
      <Text textStyle="xs" color="fg.muted">
        {isPaid ? t('本页由系统生成，仅作付款凭证，不是税务发票。') : t('此订单没有付款记录，本页不是付款凭证。')}
      </Text>
    </Stack>
  )
}

const creditText = ({ paidAt, quota }: Order): string =>
  paidAt ? t('到账额度 {quota}', { quota: quotaText(quota) }) : t('充值额度 {quota}', { quota: quotaText(quota) })

type Buyer = ReturnType<typeof useSession>['user']

const buyerText = (user: Buyer): string =>
  user
    ? [user.displayName, user.username].filter((name, index, all) => name && all.indexOf(name) === index).join(' · ')
    : ''

function Fact({ label, value }: { label: string; value: ReactNode }) {
  return (
    <Box minW="0">
      <Text as="dt" color="fg.muted">
        {label}
      </Text>
      <Text as="dd" overflowWrap="anywhere">
        {value}
      </Text>
    </Box>
  )
}

type LineProps = { label: string; value: string; note?: string | undefined; strong?: boolean }

function Line({ label, value, note, strong = false }: LineProps) {
  return (
    <HStack justify="space-between" align="flex-start" gap="4" py="2" fontWeight={strong ? 'medium' : 'normal'}>
      <Stack gap="0" minW="0">
        <Text overflowWrap="anywhere">{label}</Text>
        {note && <Text color="fg.muted">{note}</Text>}
      </Stack>
      <Text whiteSpace="nowrap" fontVariantNumeric="tabular-nums">
        {value}
      </Text>
    </HStack>
  )
}
