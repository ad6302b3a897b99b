import { Box, Button, HStack, Stack, Text } from '@chakra-ui/react'
import { FlaskConical } from 'lucide-react'
import { Link } from 'wouter'
import { Code, ModelName } from '../../components/cells/names.tsx'
import { Duration, Money } from '../../components/cells/numbers.tsx'
import { CopyButton } from '../../components/copy.tsx'
import type { Fact } from '../../components/facts.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { costText, marginText } from '../../lib/margin.ts'
import { useStatus } from '../../lib/status.ts'
import { AttemptList } from './attempts.tsx'
import { ChargeProof } from './charge.tsx'
import { StoredContent } from './content.tsx'
import { curlOf } from './curl.ts'
import { detailsOf, failureText, freeText } from './details.ts'
import { LogOrigin } from './origin.tsx'
import { lossText } from './loss-words.ts'
import { StateCell, firstTokenTone, totalTone } from './state.tsx'
import { Timeline } from './timeline.tsx'
import type { LogRow } from './use-logs.ts'

function tokenText(log: LogRow): string {
  const { cache_tokens: cached = 0, cache_creation_tokens: written = 0 } = detailsOf(log)
  const parts = [
    cached > 0 && t('缓存 {count}', { count: formatInteger(cached) }),
    written > 0 && t('写入缓存 {count}', { count: formatInteger(written) }),
  ].filter(Boolean)
  const input = formatInteger(log.promptTokens) + (parts.length > 0 ? ` (${parts.join(', ')})` : '')
  return `${input} → ${formatInteger(log.completionTokens)}`
}

/** Only administrators see it; null where no buying price was known. */
function costFacts({ cost, quota }: LogRow): Fact[] {
  if (cost === undefined) return []
  if (cost === null) return [{ label: t('成本'), value: t('未知（没有填写进价）') }]
  return [
    { label: t('成本'), value: costText(cost) },
    { label: t('毛利'), value: marginText({ costedQuota: quota, cost }) },
  ]
}

function summaryOf(log: LogRow): Fact[] {
  const details = detailsOf(log)
  const { firstTokenMs } = details
  return [
    { label: t('状态'), value: <StateCell log={log} /> },
    { label: t('模型'), value: <ModelName name={log.modelName} used={details.upstream_model_name} /> },
    { label: t('费用'), value: <Money quota={log.quota} digits={6} /> },
    ...costFacts(log),
    { label: t('Token（输入 → 输出）'), value: tokenText(log) },
    {
      label: t('首字用时'),
      value: <Duration milliseconds={firstTokenMs} tone={firstTokenTone(firstTokenMs ?? 0)} />,
      hidden: firstTokenMs === null || !log.isStream,
    },
    { label: t('总用时'), value: <Duration milliseconds={log.useTimeMs} tone={totalTone(log.useTimeMs)} /> },
  ]
}

const dialects: Readonly<Record<string, string>> = {
  'openai-chat': 'OpenAI Chat Completions',
  'openai-responses': 'OpenAI Responses',
  'openai-completions': 'OpenAI Completions',
  claude: 'Anthropic Messages',
  gemini: 'Gemini',
}

const sourcesOf = () => ({
  upstream: t('上游报告'),
  estimated: t('网关计数（上游没有报告）'),
  none: t('没有用量'),
})

function parametersOf(log: LogRow): Fact[] {
  const { dialect = '', usage_source: source, usage_corrected: corrected, reasoning_effort: effort } = detailsOf(log)
  const counted = source && sourcesOf()[source]
  return [
    { label: t('协议'), value: dialects[dialect] ?? dialect, hidden: dialect === '' },
    { label: t('方式'), value: log.isStream ? t('流式') : t('非流式') },
    { label: t('思考强度'), value: effort, hidden: effort === undefined },
    {
      label: t('用量来源'),
      value: corrected ? t('{source}，其中不合理的数字已更正', { source: counted ?? '' }) : counted,
      hidden: counted === undefined,
    },
  ]
}

/** Everything about one call. */
export function CallPanel({ log }: { log: LogRow }) {
  const details = detailsOf(log)
  const { attempts, losses = [], receipt, upstreamMs } = details
  return (
    <Stack gap="7">
      <Stack gap="4">
        <EndNotice log={log} />
        <Facts facts={summaryOf(log)} />
        {/* Both put it as a conversation, which no other operation is. */}
        {details.operation === undefined && <CallActs log={log} />}
      </Stack>
      {attempts.length > 0 && (
        <Section title={t('尝试')}>
          <AttemptList attempts={attempts} />
        </Section>
      )}
      {upstreamMs !== undefined && (
        <Section title={t('时间线')}>
          <Timeline total={log.useTimeMs} details={details} />
        </Section>
      )}
      <Section title={t('费用明细')}>
        {receipt === undefined ? (
          <Text textStyle="sm" color="fg.muted">
            {log.quota === 0 ? freeText(log) : log.content}
          </Text>
        ) : (
          <ChargeProof receipt={receipt} quota={log.quota} />
        )}
        {details.plan && <PaidBy plan={details.plan} quota={log.quota} />}
      </Section>
      {losses.length > 0 && <Losses names={losses} />}
      <Section title={t('参数')}>
        <Facts facts={parametersOf(log)} />
      </Section>
      <LogOrigin log={log} />
      <StoredContent details={details} />
    </Stack>
  )
}

/** What the balance and the plan paid, where a plan paid a part. */
function PaidBy({ plan, quota }: { plan: { name: string; quota: number }; quota: number }) {
  return (
    <Facts
      facts={[
        { label: t('套餐“{name}”支付', { name: plan.name }), value: <Money quota={plan.quota} digits={6} /> },
        { label: t('余额支付'), value: <Money quota={quota - plan.quota} digits={6} /> },
      ]}
    />
  )
}

function EndNotice({ log }: { log: LogRow }) {
  const { end, failure, refusal, max_tokens_lowered: lowered } = detailsOf(log)
  if (end === 'unpaid') {
    return <Notice tone="warning">{t('余额或令牌额度已用尽，答复在此结束。只对提示和已送达的部分收费。')}</Notice>
  }
  if (end === undefined && lowered !== undefined) {
    return <Notice tone="warning">{t('按余额把输出上限降到 {tokens} tokens。', { tokens: lowered })}</Notice>
  }
  if (end === 'hung-up') {
    return <Notice tone="warning">{t('客户端在答复结束前断开。只对提示和已送达的部分收费。')}</Notice>
  }
  if (end !== 'failed') return null
  return (
    <Notice tone="bad" title={t('答复中途出错。只对提示和已送达的部分收费。')}>
      {failure && failureText(failure, refusal)}
    </Notice>
  )
}

function CallActs({ log }: { log: LogRow }) {
  const { serverAddress } = useStatus()
  const asked = {
    base: serverAddress || window.location.origin,
    model: log.modelName,
    isStream: log.isStream,
    details: detailsOf(log),
  }
  return (
    <HStack gap="2" wrap="wrap">
      <CopyButton wide size="sm" text={curlOf(asked)} label={t('复制为 curl')} />
      <Button asChild size="sm">
        <Link href={`/playground?model=${encodeURIComponent(log.modelName)}`}>
          <FlaskConical aria-hidden />
          {t('在操练场打开')}
        </Link>
      </Button>
    </HStack>
  )
}

function Losses({ names }: { names: readonly string[] }) {
  return (
    <Section title={t('翻译中的损失')}>
      <Stack gap="2" textStyle="sm">
        <Text color="fg.muted">{t('上游的协议没有与下列内容对应的写法，它们没有送达模型：')}</Text>
        <Box as="ul" ps="5" listStyleType="disc">
          {names.map((name) => (
            <li key={name}>
              {lossText(name)} <Code>{name}</Code>
            </li>
          ))}
        </Box>
      </Stack>
    </Section>
  )
}
