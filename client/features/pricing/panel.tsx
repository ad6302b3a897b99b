import { Field, Input, SimpleGrid, Stack, Text, chakra } from '@chakra-ui/react'
import { useState } from 'react'
import { CopyButton } from '../../components/copy.tsx'
import { DetailPanel, neighbours } from '../../components/detail-panel.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { abbreviate, priceText } from '../../lib/format.ts'
import { useStatus } from '../../lib/status.ts'
import { Dollar, kindText } from './columns.tsx'
import { costOf, dollarsFor, dollarsOf, type Group } from './prices.ts'
import { ratioTone } from './ratio-tone.ts'
import type { PriceLine } from './use-prices.ts'

type PricePanelProps = {
  line: PriceLine | undefined
  lines: readonly PriceLine[]
  groups: readonly Group[]
  /** Of the group whose prices are shown. */
  groupRatio: number
  onOpen: (model: string) => void
}

/** One model: its prices, those of the other groups, and what a call would cost. */
export function PricePanel({ line, lines, groups, groupRatio, onOpen }: PricePanelProps) {
  return (
    <DetailPanel
      openId={line?.model}
      onClose={() => onOpen('')}
      title={line?.model ?? ''}
      label={t('模型价格')}
      subtitle={line && [line.vendor, kindText(line.price.kind)].filter(Boolean).join(' · ')}
      actions={line && <CopyButton text={line.model} label={t('复制 {name}', { name: line.model })} />}
      {...neighbours(
        lines,
        ({ model }) => model === line?.model,
        ({ model }) => onOpen(model),
      )}
    >
      {line && (
        <Stack gap="6">
          <Section title={t('价格')}>
            <PriceFacts line={line} />
          </Section>
          {line.price.longContext.length > 0 && (
            <Section title={t('长上下文价格')}>
              <LongPrices line={line} />
            </Section>
          )}
          {line.dollars.call === null && <Example line={line} groupRatio={groupRatio} />}
          <Section title={t('各分组的价格')}>
            <GroupPrices line={line} groups={groups} />
          </Section>
        </Stack>
      )}
    </DetailPanel>
  )
}

function PriceFacts({ line: { dollars, price } }: { line: PriceLine }) {
  const perMillion = (label: string, value: number | null) => ({
    label,
    value: (
      <>
        <Dollar value={value} /> / 1M tokens
      </>
    ),
    hidden: value === null,
  })
  return (
    <Facts
      facts={[
        perMillion(t('输入'), dollars.input),
        perMillion(t('输出'), dollars.output),
        perMillion(t('图片输出'), dollars.imageOutput),
        perMillion(t('缓存读取'), dollars.cached),
        perMillion(t('缓存写入'), dollars.cacheWrite),
        { label: t('单次价格'), value: <Dollar value={dollars.call} />, hidden: dollars.call === null },
        { label: t('模型倍率'), value: price.modelRatio, hidden: price.modelRatio === null },
        { label: t('补全倍率'), value: price.completionRatio, hidden: price.completionRatio === null },
      ]}
    />
  )
}

const readInteger = (text: string): number => Math.max(0, Math.trunc(Number(text) || 0))

/** What a call of the typed size costs. */
function Example({ line, groupRatio }: { line: PriceLine; groupRatio: number }) {
  const { quotaPerUnit } = useStatus()
  const [usage, setUsage] = useState({ input: 10_000, cached: 0, output: 1000 })
  const once = costOf(dollarsFor(line.price, { groupRatio, quotaPerUnit }, usage.input), usage)
  const figures = [
    ['input', t('输入 tokens')],
    ['cached', t('其中缓存命中')],
    ['output', t('输出 tokens')],
  ] as const
  return (
    <Section title={t('费用示例')}>
      <SimpleGrid columns={{ base: 1, sm: 3 }} gap="3">
        {figures.map(([name, label]) => (
          <Field.Root key={name}>
            <Field.Label>{label}</Field.Label>
            <Input
              inputMode="numeric"
              value={usage[name]}
              onChange={(event) => setUsage({ ...usage, [name]: readInteger(event.target.value) })}
            />
          </Field.Root>
        ))}
      </SimpleGrid>
      <Text textStyle="sm" aria-live="polite">
        {t('一次调用约 {once}，一千次约 {thousand}', {
          once: priceText(once),
          thousand: priceText(once * 1000),
        })}
      </Text>
    </Section>
  )
}

const Table = chakra('table', {
  base: {
    w: 'full',
    textStyle: 'sm',
    fontVariantNumeric: 'tabular-nums',
    '& th': { textAlign: 'start', fontWeight: 'normal', color: 'fg.muted', py: '1.5' },
    '& td': { py: '1.5', borderTopWidth: '1px' },
    '& [data-end]': { textAlign: 'end' },
  },
})

/** A long prompt pays these prices for all of the call. */
function LongPrices({ line }: { line: PriceLine }) {
  return (
    <Table>
      <thead>
        <tr>
          <th>{t('提示长度')}</th>
          <th data-end="">{t('输入 / 1M')}</th>
          <th data-end="">{t('缓存 / 1M')}</th>
          <th data-end="">{t('输出 / 1M')}</th>
        </tr>
      </thead>
      <tbody>
        {line.longPrices.map(({ above, dollars }) => (
          <tr key={above}>
            <td>{t('超过 {count} tokens', { count: abbreviate(above) })}</td>
            {[dollars.input, dollars.cached, dollars.output].map((value, place) => (
              <td key={place} data-end="">
                <Dollar value={value} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function GroupPrices({ line, groups }: { line: PriceLine; groups: readonly Group[] }) {
  const { quotaPerUnit } = useStatus()
  const own = groups.filter(({ name }) => line.groups.includes(name))
  const perCall = line.dollars.call !== null
  return (
    <Table>
      <thead>
        <tr>
          <th>{t('分组')}</th>
          <th data-end="">{t('倍率')}</th>
          <th data-end="">{perCall ? t('单次价格') : t('输入 / 1M')}</th>
          {!perCall && <th data-end="">{t('输出 / 1M')}</th>}
        </tr>
      </thead>
      <tbody>
        {own.map(({ name, ratio, description }) => {
          const dollars = dollarsOf(line.price, { groupRatio: ratio, quotaPerUnit })
          return (
            <tr key={name}>
              <td data-tip={description}>{name}</td>
              <td data-end="">
                <Status tone={ratioTone(ratio)}>{ratio}</Status>
              </td>
              <td data-end="">
                <Dollar value={perCall ? dollars.call : dollars.input} />
              </td>
              {!perCall && (
                <td data-end="">
                  <Dollar value={dollars.output} />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </Table>
  )
}
