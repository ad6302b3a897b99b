import { Box, Button, Flex, HStack, Stack, Text } from '@chakra-ui/react'
import { CloudDownload } from 'lucide-react'
import { useState } from 'react'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { ModelName } from '../../../components/cells/names.tsx'
import { Section } from '../../../components/facts.tsx'
import { notify } from '../../../components/notify.ts'
import { Status } from '../../../components/status.tsx'
import { t } from '../../../i18n/t.ts'
import { formatDuration, formatExactTime } from '../../../lib/format.ts'
import { logText } from '../../../lib/log-text.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import type { Probe } from '../tests/result-cache.ts'
import { CoolingDown } from '../list/cells.tsx'
import type { Drift } from '../list/drift-mark.tsx'
import type { Cooldown } from '../list/use-cooldowns.ts'
import type { ChannelActions } from '../use-channel-actions.ts'
import { CooldownLines } from './cooldown-lines.tsx'
import { driftOf, mappedNames } from '#core/channel-types/drift.ts'
import { UnpricedNotice } from '../models/unpriced-notice.tsx'
import { useUnpriced } from '../models/use-unpriced.ts'
import type { ChannelDetail } from '../channel-detail.ts'

type ModelStatesProps = {
  channel: ChannelDetail
  probes: readonly Probe[]
  cooldowns: readonly Cooldown[]
  actions: ChannelActions
}

const shownAtFirst = 12

/** Each model with what its last test said, and how the upstream's own list differs. */
export function ModelStates({ channel, probes, cooldowns, actions }: ModelStatesProps) {
  const [all, setAll] = useState(false)
  const { models, modelMapping, type } = channel
  const unpriced = useUnpriced({ type, models, modelMapping })
  // What is in a cooldown comes first; nothing of it may be hidden below the fold.
  const coolingDown = new Set(cooldowns.map(({ model }) => model))
  const ordered = [...models].sort((left, right) => Number(coolingDown.has(right)) - Number(coolingDown.has(left)))
  const shown = all ? ordered : ordered.slice(0, shownAtFirst)
  return (
    <Section
      title={t('模型（{count}）', { count: models.length })}
      extra={channelTypeOf(type)?.modelsEndpoint && <DriftCheck key={channel.id} channel={channel} actions={actions} />}
    >
      <UnpricedNotice models={models.filter((model) => unpriced.has(model))} />
      <Stack as="ul" gap="0" listStyleType="none" textStyle="sm">
        {shown.map((model) => (
          <ModelLine
            key={model}
            model={model}
            isUnpriced={unpriced.has(model)}
            probe={probes.find((probe) => probe.model === model)}
            cooldowns={cooldowns.filter((cooldown) => cooldown.model === model)}
          />
        ))}
      </Stack>
      {models.length > shownAtFirst && (
        <Box>
          <Button size="xs" variant="ghost" onClick={() => setAll(!all)}>
            {all ? t('收起') : t('显示全部 {count} 个', { count: models.length })}
          </Button>
        </Box>
      )}
    </Section>
  )
}

type ModelLineProps = {
  model: string
  isUnpriced: boolean
  probe: Probe | undefined
  cooldowns: readonly Cooldown[]
}

function ModelLine({ model, isUnpriced, probe, cooldowns }: ModelLineProps) {
  return (
    <Box as="li" py="1" borderBottomWidth="1px" borderColor="border.muted">
      <Flex align="center" gap="3" minH="6">
        <Box flex="1" minW="0" truncate>
          <ModelName name={model} />
        </Box>
        {isUnpriced && (
          <Text as="span" textStyle="xs" color="warning.fg">
            {t('没有价格')}
          </Text>
        )}
        {cooldowns.length > 0 && <CoolingDown cooldowns={cooldowns} />}
        <LastTest probe={probe} />
      </Flex>
      <CooldownLines cooldowns={cooldowns} nameOf={({ key }) => t('密钥 {number}', { number: key + 1 })} />
    </Box>
  )
}

function LastTest({ probe }: { probe: Probe | undefined }) {
  if (!probe) {
    return (
      <Text as="span" color="fg.subtle">
        {t('未测试')}
      </Text>
    )
  }
  const tested = t('测试于 {time}', { time: formatExactTime(probe.createdAt) })
  return probe.success ? (
    <Status tone="good" tip={tested}>
      {formatDuration(probe.durationMs)}
    </Status>
  ) : (
    <Status tone="bad" tip={`${tested}\n${logText(probe.message)}`}>
      {t('失败')}
    </Status>
  )
}

const comparisonTip = ({ checkedAt, problem }: Drift): string =>
  [t('上次比对于 {time}', { time: formatExactTime(checkedAt) }), problem].filter(Boolean).join('\n')

type DriftCheckProps = { channel: ChannelDetail; actions: ChannelActions }

/** What the last comparison with the upstream's list found, or compares now; one press takes its list over. */
function DriftCheck({ channel, actions }: DriftCheckProps) {
  const fetchModels = trpc.admin.channels.fetchModelsOf.useMutation()
  const [isApplying, setApplying] = useState(false)
  const lastDrift = trpc.admin.channels.drifts.useQuery({ ids: [channel.id] }, reportedWhenFailed).data?.[0]
  const differs = lastDrift && lastDrift.added.length + lastDrift.gone.length > 0 ? lastDrift : undefined
  const drift = fetchModels.data
    ? driftOf(channel.models, fetchModels.data, mappedNames(channel.modelMapping))
    : differs
  const check = () =>
    fetchModels.mutateAsync({ id: channel.id }).catch((error: unknown) => {
      notify.error(error, t('没有取得上游的模型列表'))
    })
  const apply = async (change: { added: readonly string[]; gone: readonly string[] }) => {
    setApplying(true)
    await actions.applyDrift(channel, change)
    fetchModels.reset()
    setApplying(false)
  }
  if (!drift) {
    return (
      <Button
        size="xs"
        loading={fetchModels.isPending}
        data-tip={lastDrift && comparisonTip(lastDrift)}
        onClick={() => void check()}
      >
        <CloudDownload aria-hidden />
        {t('与上游比较')}
      </Button>
    )
  }
  const { added, gone } = drift
  if (added.length === 0 && gone.length === 0) {
    return <Status tone="good">{t('与上游的模型列表一致。')}</Status>
  }
  const remaining = channel.models.filter((model) => !gone.includes(model))
  return (
    <HStack gap="1" wrap="wrap" justify="end">
      {added.length > 0 && (
        <Button
          size="xs"
          data-tip={added.slice(0, 30).join('\n')}
          disabled={isApplying}
          onClick={() => void apply({ added, gone: [] })}
        >
          {t('加入新增的 {count} 个', { count: added.length })}
        </Button>
      )}
      {gone.length > 0 && remaining.length + added.length > 0 && (
        <Button
          size="xs"
          data-tip={gone.slice(0, 30).join('\n')}
          disabled={isApplying}
          onClick={() => void apply({ added, gone })}
        >
          {t('与上游保持一致')}
        </Button>
      )}
    </HStack>
  )
}
