import { Button, HStack, Input, RadioCard, SimpleGrid, Stack, Text } from '@chakra-ui/react'
import { ExternalLink } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { confirm } from '../../components/confirm.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { Notice } from '../../components/notice.tsx'
import { RetryButton } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { errorText } from '../../lib/errors.ts'
import { formatInteger, priceText } from '../../lib/format.ts'
import { goPay } from '../../lib/go-pay.ts'
import { useRequestKey } from '../../lib/request-key.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { methodName, type Method, type Wallet } from './methods.ts'

/** How long a sum is shown before it is asked for again: prices change, and the page may stand for hours. */
const askedEveryMs = 60_000

const presets = [5, 10, 20, 50, 100, 500]

const moneyText = ({ money, currency }: { money: string; currency: string }): string => `${money} ${currency}`

/** After a pause in typing. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  // Another object that says the same is no other value.
  const text = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(text) as Value), 300)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function TopUp({ wallet }: { wallet: Wallet }) {
  const { isRoot } = useSession()
  return (
    <Section
      title={t('在线充值')}
      extra={
        wallet.topUpLink !== '' && (
          <Button asChild size="xs">
            <a href={wallet.topUpLink} target="_blank" rel="noreferrer">
              {t('获取兑换码')}
              <ExternalLink aria-hidden />
            </a>
          </Button>
        )
      }
    >
      {wallet.methods.length > 0 ? (
        <Buying wallet={wallet} />
      ) : isRoot ? (
        <Notice
          action={
            <Button asChild size="xs">
              <Link href="/admin/settings?q=PayAddress">{t('前往设置')}</Link>
            </Button>
          }
        >
          {t('还没有开启在线充值。')}
        </Notice>
      ) : (
        <Notice>{t('管理员未开启在线充值！')}</Notice>
      )}
    </Section>
  )
}

function Buying({ wallet }: { wallet: Wallet }) {
  const { displayInCurrency, quotaPerUnit } = useStatus()
  const unit = displayInCurrency ? 1 : quotaPerUnit
  const { minimumAmount } = wallet
  const [typed, setTyped] = useState(String(Math.max(minimumAmount, 10 * unit)))
  const [chosen, choose] = useState<Method['method']>()
  const method = wallet.methods.find((one) => one.method === chosen)?.method ?? wallet.methods[0]?.method ?? 'zfb'
  const amount = Math.trunc(Number(typed))
  const isAmount = /^\d+$/.test(typed.trim()) && amount >= minimumAmount
  const asked = useSettled({ amount, method })
  const quote = trpc.user.orders.quote.useQuery(asked, {
    enabled: isAmount,
    retry: false,
    refetchInterval: askedEveryMs,
    refetchOnWindowFocus: true,
  })
  const key = useRequestKey()
  const utils = trpc.useUtils()
  const inUnits = (units: number) => (displayInCurrency ? priceText(units) : formatInteger(units))
  const shown = inUnits(amount)
  const isCurrent = asked.amount === amount && asked.method === method
  const total = isAmount && isCurrent && !quote.error && quote.data ? moneyText(quote.data) : '—'
  const buy = () => {
    const input = { amount, method }
    let read = total
    void confirm({
      title: t('确认充值'),
      body: (
        <Facts
          facts={[
            { label: t('充值数量'), value: shown },
            { label: t('实付金额'), value: total },
            { label: t('支付方式'), value: t(methodName(method)) },
          ]}
        />
      ),
      confirmLabel: t('去支付'),
      run: async () => {
        const now = moneyText(await utils.user.orders.quote.fetch(input, { staleTime: 0 }))
        if (now !== read) {
          // Whoever presses again has read the new sum.
          read = now
          throw new Error(t('实付金额已变为 {money}，尚未支付；如接受，请再次点击“去支付”', { money: now }))
        }
        goPay(await utils.client.user.orders.pay.mutate(input, key.contextFor({ ...input, now })))
        key.done()
      },
    })
  }
  return (
    <Stack gap="4">
      <Stack gap="2">
        <Text as="label" textStyle="sm" fontWeight="medium" {...{ htmlFor: 'top-up-amount' }}>
          {displayInCurrency ? t('充值数量（美元）') : t('充值数量（额度）')}
        </Text>
        <Input
          id="top-up-amount"
          value={typed}
          inputMode="numeric"
          autoComplete="off"
          aria-invalid={!isAmount}
          onChange={(event) => setTyped(event.target.value)}
        />
        {!isAmount && (
          <Text textStyle="xs" color="bad.fg" role="alert">
            {t('充值数量不能小于 {minimum}', { minimum: inUnits(minimumAmount) })}
          </Text>
        )}
        <HStack gap="1" wrap="wrap">
          {presets
            .filter((dollars) => dollars * unit >= minimumAmount)
            .map((dollars) => (
              <Button key={dollars} size="2xs" onClick={() => setTyped(String(dollars * unit))}>
                ${dollars}
              </Button>
            ))}
        </HStack>
      </Stack>
      <RadioCard.Root
        size="sm"
        value={method}
        aria-label={t('支付方式')}
        onValueChange={({ value }) => choose(value as Method['method'])}
      >
        <SimpleGrid columns={{ base: 1, sm: Math.min(3, wallet.methods.length) }} gap="2">
          {wallet.methods.map((one) => (
            <RadioCard.Item key={one.method} value={one.method}>
              <RadioCard.ItemHiddenInput />
              <RadioCard.ItemControl>
                <RadioCard.ItemText>{t(methodName(one.method))}</RadioCard.ItemText>
                <RadioCard.ItemIndicator />
              </RadioCard.ItemControl>
            </RadioCard.Item>
          ))}
        </SimpleGrid>
      </RadioCard.Root>
      {isAmount && isCurrent && quote.error && (
        <Notice tone="bad" isAlert action={<RetryButton onRetry={quote.refetch} />}>
          {errorText(quote.error)}
        </Notice>
      )}
      <HStack justify="space-between" gap="3" wrap="wrap">
        <Stack gap="0">
          <Text textStyle="xs" color="fg.muted">
            {wallet.groupRatio === 1 ? t('实付金额') : t('实付金额（分组倍率 {ratio}）', { ratio: wallet.groupRatio })}
          </Text>
          <Text textStyle="xl" fontWeight="semibold" fontVariantNumeric="tabular-nums" aria-live="polite">
            {total}
          </Text>
        </Stack>
        <Button variant="solid" disabled={total === '—'} onClick={buy}>
          {t('立即充值')}
        </Button>
      </HStack>
    </Stack>
  )
}
