import { Button, Flex, HStack, Input, NativeSelect, Skeleton, Stack, Text } from '@chakra-ui/react'
import { Plus, Trash } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { BuyingPrice } from '#core/pricing/buying-price.ts'
import { FigureInput } from '../../components/figure-input.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { Picker } from '../../components/picker.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { priceText } from '../../lib/format.ts'
import { useLeaveGuard } from '../../lib/leave-guard.ts'
import { fromLocalInput, toLocalInput } from '../../lib/local-time.ts'
import { costText, marginText } from '../../lib/margin.ts'
import { useStatus } from '../../lib/status.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'

type BuyingPricesProps = {
  open: boolean
  channels: readonly { id: number; name: string }[]
  /** The channels could not be fetched. */
  unread: { error: unknown; refetch: () => unknown } | undefined
  channelId: number | undefined
  onChannel: (id: number) => void
  onClose: () => void
}

/** What the operator pays for the models of a channel, and since when. */
export function BuyingPrices({ open, channels, unread, channelId, onChannel, onClose }: BuyingPricesProps) {
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={t('进价')}
      description={t('渠道的模型花费您多少钱。成本随每次调用记账，只有管理员可以看到。')}
    >
      <Stack gap="6">
        {unread && <ErrorState error={unread.error} onRetry={() => void unread.refetch()} />}
        <Picker
          label={t('渠道')}
          placeholder={t('选择渠道')}
          value={channelId === undefined ? '' : String(channelId)}
          choices={channels.map(({ id, name }) => ({ value: String(id), label: name, note: `#${id}` }))}
          onChange={(value) => value !== '' && onChannel(Number(value))}
        />
        {channelId !== undefined && (
          <>
            <Money channelId={channelId} />
            <Prices key={channelId} channelId={channelId} />
          </>
        )}
      </Stack>
    </Sheet>
  )
}

function Money({ channelId }: { channelId: number }) {
  const { data } = trpc.admin.prices.channelMoney.useQuery({ channelId }, reportedWhenFailed)
  const { quotaPerUnit } = useStatus()
  if (!data) return null
  const check = data.balanceCheck
  return (
    <Section title={t('近 30 天')}>
      <Facts
        facts={[
          { label: t('收入'), value: priceText(data.quota / quotaPerUnit) },
          // Without a buying price nobody knows what the calls cost, which is not nothing.
          { label: t('成本'), value: data.cost === 0 && data.costedQuota === 0 ? '–' : costText(data.cost) },
          {
            label: t('毛利'),
            value: data.costedQuota === 0 ? '–' : marginText(data),
          },
          {
            label: t('余额对账'),
            value:
              check &&
              t('上游余额减少 {reported}，本站计得 {counted}', {
                reported: priceText(check.reported),
                counted: priceText(check.counted),
              }),
            hidden: check === null,
          },
        ]}
      />
      {data.quota > data.costedQuota && (
        <Text textStyle="xs" color="fg.muted">
          {t('毛利只计算已知进价的调用。')}
        </Text>
      )}
    </Section>
  )
}

/** Whether something is typed that is no number: it must not be taken for a price of nothing. */
const isUnreadable = ({ terms }: BuyingPrice): boolean =>
  Object.values(terms).some((figure) => typeof figure === 'number' && !(figure >= 0))

const Skeletons = () => (
  <Stack gap="3" aria-busy>
    <Skeleton h="32" />
    <Skeleton h="32" />
  </Stack>
)

const blank = (): BuyingPrice => ({
  model: '',
  from: Date.now(),
  terms: { kind: 'tokens', input: 0, output: 0 },
})

type Form = { began: readonly BuyingPrice[]; prices: readonly BuyingPrice[] }

const isSame = (one: readonly BuyingPrice[], other: readonly BuyingPrice[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

function Prices({ channelId }: { channelId: number }) {
  const utils = trpc.useUtils()
  // The form begins with what holds now, and a refresh does not move what its changes are compared with.
  const query = trpc.admin.prices.buying.useQuery({ channelId }, { gcTime: 0, staleTime: Infinity })
  const save = trpc.admin.prices.setBuying.useMutation()
  const [form, setForm] = useState<Form>()
  const [overtakenBy, setOvertakenBy] = useState<readonly BuyingPrice[]>()
  useEffect(() => {
    const { data } = query
    if (data) setForm((before) => before ?? { began: data, prices: data })
  }, [query])
  useLeaveGuard(form !== undefined && !isSame(form.prices, form.began))
  if (!form)
    return query.isError ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <Skeletons />
  const { began, prices } = form
  const setPrices = (next: readonly BuyingPrice[]) => setForm({ ...form, prices: next })
  const change = (place: number, price: BuyingPrice) =>
    setPrices(prices.map((old, index) => (index === place ? price : old)))
  const beginWith = (stored: readonly BuyingPrice[]) => setForm((before) => before && { ...before, began: stored })
  const submit = async () => {
    setOvertakenBy(undefined)
    try {
      await save.mutateAsync({ channelId, prices: [...prices], expected: [...began] })
      beginWith(prices)
      void utils.admin.prices.invalidate()
      void utils.admin.channels.invalidate()
      notify.success(t('保存成功'))
    } catch (error) {
      notify.error(error, t('保存失败'))
      if (refusalCode(error) !== 'prices.buying_changed_meanwhile') return
      // Whoever saves again has read that somebody else changed them, and may look at what they are now.
      const now = await utils.admin.prices.buying.fetch({ channelId }, { staleTime: 0 }).catch(() => undefined)
      if (now) beginWith(now)
      setOvertakenBy(now)
    }
  }
  return (
    <Section title={t('进价列表')}>
      <Stack gap="3">
        {prices.length === 0 && <Notice>{t('还没有进价，成本未知。')}</Notice>}
        {prices.map((price, place) => (
          <One
            key={place}
            price={price}
            number={place + 1}
            onChange={(next) => change(place, next)}
            onRemove={() => setPrices(prices.filter((_, index) => index !== place))}
          />
        ))}
        <HStack gap="2">
          <Button onClick={() => setPrices([...prices, blank()])}>
            <Plus aria-hidden />
            {t('添加进价')}
          </Button>
          <Button
            variant="solid"
            loading={save.isPending}
            disabled={prices.some(isUnreadable)}
            onClick={() => void submit()}
          >
            {t('保存进价')}
          </Button>
        </HStack>
        {prices.some(isUnreadable) && (
          <Text textStyle="sm" color="bad.fg" role="alert">
            {t('请输入数字')}
          </Text>
        )}
        {overtakenBy && (
          <Notice
            tone="warning"
            isAlert
            action={
              <Button
                size="xs"
                onClick={() => {
                  setForm({ began: overtakenBy, prices: overtakenBy })
                  setOvertakenBy(undefined)
                }}
              >
                {t('放弃修改并载入最新')}
              </Button>
            }
          >
            {t('进价已被其他人修改，您的修改未保存。再次保存将覆盖对方的修改。')}
          </Notice>
        )}
      </Stack>
    </Section>
  )
}

type OneProps = { price: BuyingPrice; number: number; onChange: (price: BuyingPrice) => void; onRemove: () => void }

function One({ price, number, onChange, onRemove }: OneProps) {
  const { terms } = price
  const named = (label: string) => `${label} ${number}`
  return (
    <Stack layerStyle="frame" p="3" gap="3">
      <Flex gap="3" wrap="wrap" align="flex-end">
        <Labelled label={t('模型')} grow>
          <Input
            size="sm"
            fontFamily="mono"
            aria-label={named(t('模型'))}
            placeholder={t('所有模型')}
            value={price.model}
            onChange={(event) => onChange({ ...price, model: event.target.value.trim() })}
          />
        </Labelled>
        <Labelled label={t('起始时间')}>
          <Input
            size="sm"
            type="datetime-local"
            aria-label={named(t('起始时间'))}
            value={toLocalInput(new Date(price.from))}
            onChange={(event) => {
              const from = fromLocalInput(event.target.value)
              if (from) onChange({ ...price, from: from.getTime() })
            }}
          />
        </Labelled>
        <IconButton icon={Trash} label={t('移除进价 {number}', { number })} onClick={onRemove} />
      </Flex>
      <Flex gap="3" wrap="wrap" align="flex-end">
        <Labelled label={t('方式')}>
          <NativeSelect.Root size="sm">
            <NativeSelect.Field
              aria-label={named(t('方式'))}
              value={terms.kind}
              onChange={(event) =>
                onChange({
                  ...price,
                  terms:
                    event.target.value === 'share'
                      ? { kind: 'share', share: 1 }
                      : { kind: 'tokens', input: 0, output: 0 },
                })
              }
            >
              <option value="tokens">{t('美元每百万')}</option>
              <option value="share">{t('售价表的比例')}</option>
            </NativeSelect.Field>
            <NativeSelect.Indicator />
          </NativeSelect.Root>
        </Labelled>
        {terms.kind === 'share' ? (
          <Labelled label={t('比例，1 为原价')}>
            <FigureInput
              label={named(t('比例，1 为原价'))}
              value={terms.share}
              onChange={(share, isNumber) =>
                onChange({ ...price, terms: { kind: 'share', share: isNumber ? (share ?? 0) : Number.NaN } })
              }
            />
          </Labelled>
        ) : (
          <Tokens terms={terms} named={named} onChange={(next) => onChange({ ...price, terms: next })} />
        )}
      </Flex>
    </Stack>
  )
}

type TokenTerms = Extract<BuyingPrice['terms'], { kind: 'tokens' }>

function Tokens({
  terms,
  named,
  onChange,
}: {
  terms: TokenTerms
  named: (label: string) => string
  onChange: (terms: TokenTerms) => void
}) {
  const fields = [
    ['input', t('输入')],
    ['output', t('输出')],
    ['cacheRead', t('缓存读取')],
    ['cacheWrite', t('缓存写入')],
    ['call', t('每次')],
  ] as const
  const put = (name: (typeof fields)[number][0], value: number | null): void => {
    const { [name]: _, ...rest } = terms
    if (value === null && name !== 'input' && name !== 'output') onChange(rest as TokenTerms)
    else onChange({ ...terms, [name]: value ?? 0 })
  }
  return fields.map(([name, label]) => (
    <Labelled key={name} label={label}>
      <FigureInput
        label={named(label)}
        value={terms[name]}
        placeholder="–"
        onChange={(value, isNumber) => put(name, isNumber ? value : Number.NaN)}
      />
    </Labelled>
  ))
}

function Labelled({ label, grow = false, children }: { label: string; grow?: boolean; children: React.ReactNode }) {
  return (
    <Stack
      gap="1"
      flex={{ base: grow ? '1 1 100%' : '1 1 40%', sm: grow ? '1 1 140px' : '0 1 auto' }}
      minW="20"
      maxW={grow ? undefined : { base: 'full', sm: '52' }}
    >
      <Text textStyle="xs" color="fg.muted" aria-hidden>
        {label}
      </Text>
      {children}
    </Stack>
  )
}
