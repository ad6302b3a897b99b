import { Box, Button, Flex, HStack, RadioGroup, SimpleGrid, Skeleton, Stack, Text } from '@chakra-ui/react'
import { type ReactNode, useEffect, useRef } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { modelWords, PlanWindows, stateOfSubscription, SubscriptionStatus, termWords } from '../../components/plan.tsx'
import { SpendCap } from '../../components/spend-caps.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { goPay } from '../../lib/go-pay.ts'
import { quotaText } from '../../lib/format.ts'
import { useRequestKey } from '../../lib/request-key.ts'
import { useStore } from '../../lib/store.ts'
import { createStoredJson } from '../../lib/stored.ts'
import { trpc } from '../../lib/trpc.ts'
import { type Method, methodName, type Offer, type Subscription, type Wallet } from './methods.ts'

const card = { borderWidth: '1px', borderRadius: 'l3', bg: 'bg.panel', p: '4', minW: '0' } as const

/** How many of each there were last time: so many places are kept until they come. */
const lastCounts = createStoredJson<{ mine: number; offers: number } | null>('wallet-plans', null)

const places = (count: number, height: string) =>
  Array.from({ length: count }, (_, index) => <Skeleton key={index} h={height} borderRadius="l3" aria-busy />)

type PlansProps = { wallet: Wallet | undefined; children: ReactNode }

/**
 * The plans one has, with what is left of each, and those on sale. Nothing where there are none. `children` stand below: where nobody
 * knows yet how many plans there will be, once these are there.
 */
export function Plans({ wallet, children }: PlansProps) {
  const owned = trpc.user.subscriptions.list.useQuery()
  const offers = trpc.user.plans.list.useQuery()
  const live = owned.data?.filter(({ status }) => status === 'active')
  const known = useStore(lastCounts)
  const mine = live ? live.length : owned.error ? 0 : (known?.mine ?? 0)
  const onSale = offers.data ? offers.data.length : offers.error ? 0 : (known?.offers ?? 0)
  const haveCome = wallet !== undefined && !owned.isPending && !offers.isPending
  useEffect(() => {
    // Only what changed here is written: another tab that knows other plans would write its own over it, for ever.
    const last = lastCounts.get()
    if (haveCome && (last?.mine !== mine || last.offers !== onSale)) lastCounts.set({ mine, offers: onSale })
  }, [haveCome, mine, onSale])
  return (
    <>
      <Unread title={t('我的套餐')} query={owned} />
      {mine > 0 && (
        <Section title={t('我的套餐')}>
          <SimpleGrid columns={{ base: 1, md: 2 }} gap="3" alignItems="start">
            {live?.map((subscription) => (
              <OwnPlan
                key={subscription.id}
                subscription={subscription}
                hasNext={
                  !subscription.isWaiting &&
                  live.some(({ isWaiting, planId }) => isWaiting && planId === subscription.planId)
                }
              />
            )) ?? places(mine, '60')}
          </SimpleGrid>
        </Section>
      )}
      <Unread title={t('购买套餐')} query={offers} />
      {onSale > 0 && (
        <Section title={t('购买套餐')}>
          <SimpleGrid columns={{ base: 1, sm: 2, lg: 3 }} gap="3">
            {offers.data && wallet
              ? offers.data.map((offer) => <OfferCard key={offer.id} offer={offer} wallet={wallet} />)
              : places(onSale, '64')}
          </SimpleGrid>
        </Section>
      )}
      {(haveCome || known !== null) && children}
    </>
  )
}

type UnreadProps = { title: string; query: { data: unknown; error: unknown; refetch: () => Promise<unknown> } }

/** In place of a section that could not be fetched. */
const Unread = ({ title, query }: UnreadProps) =>
  query.error && !query.data ? (
    <Section title={title}>
      <Box {...card}>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </Box>
    </Section>
  ) : null

/** `hasNext`: another term of the same plan waits for the end of this one. */
function OwnPlan({ subscription, hasNext }: { subscription: Subscription; hasNext: boolean }) {
  const { id, name, models, balancePays, windows, isWaiting, startsAt, endsAt } = subscription
  const utils = trpc.useUtils()
  const cancel = trpc.user.subscriptions.cancel.useMutation()
  const ask = () =>
    void confirm({
      title: t('取消套餐“{name}”？', { name }),
      body: hasNext ? t('套餐立即失效，不退回任何费用；已购买的下一期随即开始。') : t('套餐立即失效，不退回任何费用。'),
      danger: true,
      confirmLabel: t('取消套餐'),
      cancelLabel: t('保留'),
      run: async () => {
        await cancel.mutateAsync({ id })
        // What is given up may be bought again, where only so many are sold or each may have but one.
        await Promise.all([utils.user.subscriptions.invalidate(), utils.user.plans.invalidate()])
        notify.success(t('套餐已取消'))
      },
    })
  return (
    <Stack {...card} gap="4">
      <Flex justify="space-between" gap="3" align="flex-start">
        <Stack gap="0.5" minW="0">
          <Text fontWeight="semibold" truncate>
            {name}
          </Text>
          <Text textStyle="xs" color="fg.muted">
            {isWaiting ? t('生效时间') : t('到期时间')} <Time value={isWaiting ? startsAt : endsAt} exact />
          </Text>
        </Stack>
        <SubscriptionStatus state={stateOfSubscription(subscription)} />
      </Flex>
      {!isWaiting && (
        <Stack gap="3">
          {windows.map((window) => (
            <SpendCap key={window.id} cap={{ ...window, models: [], raise: null }} />
          ))}
        </Stack>
      )}
      <Flex justify="space-between" gap="3" align="center" wrap="wrap">
        <Text textStyle="xs" color="fg.muted" minW="0" flex="1">
          {modelWords(models)} · {balancePays ? t('用完后从余额支付') : t('用完后拒绝调用')}
        </Text>
        <Button size="xs" onClick={ask}>
          {t('取消套餐')}
        </Button>
      </Flex>
    </Stack>
  )
}

type Way = 'balance' | Method['method']

/** What it costs that way, beside its name. */
function wayWords({ price, payments }: Offer, way: Way): string {
  if (way === 'balance') return `${t('余额')} · ${quotaText(price)}`
  const payment = payments.find(({ method }) => method === way)
  return `${t(methodName(way))} · ${payment?.money} ${payment?.currency}`
}

/** Buys the offer as it was shown; where it has changed since, it is shown anew and nothing is bought. */
function usePurchase({ id, mark: offered }: Offer): (way: Way) => Promise<void> {
  const key = useRequestKey()
  const utils = trpc.useUtils()
  const fromBalance = async () => {
    const input = { id, offered }
    await utils.client.user.plans.buy.mutate(input, key.contextFor(input))
    key.done()
    await Promise.all([
      utils.user.wallet.invalidate(),
      utils.user.plans.invalidate(),
      utils.user.subscriptions.invalidate(),
      utils.user.account.invalidate(),
    ])
    notify.success(t('购买成功'))
  }
  const online = async (method: Method['method']) => {
    const input = { id, offered, method }
    goPay(await utils.client.user.plans.pay.mutate(input, key.contextFor(input)))
    key.done()
  }
  return async (way) => {
    try {
      await (way === 'balance' ? fromBalance() : online(way))
    } catch (error) {
      if (refusalCode(error) === 'plan.changed_meanwhile') void utils.user.plans.invalidate()
      throw error
    }
  }
}

function OfferCard({ offer, wallet }: { offer: Offer; wallet: Wallet }) {
  const { name, description, price, payments, models, windows, balancePays, left, isOpen } = offer
  const way = useRef<Way>('balance')
  const purchase = usePurchase(offer)
  const [payment] = payments
  // Priced in money alone: no balance pays for it.
  const inMoney = price === 0 && payment ? `${payment.money} ${payment.currency}` : undefined
  const shownPrice = inMoney ?? <Money quota={price} />
  const ways: Way[] = [...(inMoney ? [] : (['balance'] as const)), ...payments.map(({ method }) => method)]
  const buy = () => {
    way.current = !inMoney && wallet.quota >= price ? 'balance' : (payment?.method ?? 'balance')
    void confirm({
      title: t('购买套餐“{name}”？', { name }),
      body: (
        <Stack gap="4">
          <Facts
            facts={[
              { label: t('价格'), value: shownPrice },
              { label: t('时长'), value: termWords(offer) },
              { label: t('当前余额'), value: <Money quota={wallet.quota} /> },
            ]}
          />
          <RadioGroup.Root
            defaultValue={way.current}
            aria-label={t('支付方式')}
            onValueChange={({ value }) => {
              way.current = value as Way
            }}
          >
            <Stack gap="2">
              {ways.map((one) => (
                <RadioGroup.Item key={one} value={one}>
                  <RadioGroup.ItemHiddenInput />
                  <RadioGroup.ItemIndicator />
                  <RadioGroup.ItemText>{wayWords(offer, one)}</RadioGroup.ItemText>
                </RadioGroup.Item>
              ))}
            </Stack>
          </RadioGroup.Root>
        </Stack>
      ),
      confirmLabel: t('购买'),
      run: () => purchase(way.current),
    })
  }
  return (
    <Stack {...card} gap="3">
      <Stack gap="0.5">
        <Text fontWeight="semibold" overflowWrap="anywhere">
          {name}
        </Text>
        <HStack gap="1" align="baseline">
          <Text textStyle="xl" fontWeight="semibold" fontVariantNumeric="tabular-nums">
            {shownPrice}
          </Text>
          <Text textStyle="sm" color="fg.muted">
            / {termWords(offer)}
          </Text>
        </HStack>
      </Stack>
      {description !== '' && (
        <Text textStyle="sm" color="fg.muted" whiteSpace="pre-line" overflowWrap="anywhere">
          {description}
        </Text>
      )}
      <PlanWindows windows={windows} />
      <Text textStyle="xs" color="fg.muted" overflowWrap="anywhere">
        {modelWords(models)} · {balancePays ? t('用完后从余额支付') : t('用完后拒绝调用')}
      </Text>
      <Box flex="1" />
      <Button variant="solid" disabled={left === 0 || !isOpen} onClick={buy}>
        {left === 0 ? t('已售罄') : isOpen ? t('购买') : t('已达限购数量')}
      </Button>
    </Stack>
  )
}
