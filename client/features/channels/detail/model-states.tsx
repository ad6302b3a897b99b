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
import { trpc } from '../../../lib/trpc.ts'
import type { Probe } from '../list/cells.tsx'
import type { Drift } from '../list/drift-mark.tsx'
import { driftOf, mappedNames } from '#core/channel-types/drift.ts'
import { UnpricedNotice } from '../models/unpriced-notice.tsx'
import { useUnpriced } from '../models/use-unpriced.ts'
import type { ChannelDetail } from '../channel-detail.ts'

type ModelStatesProps = { channel: ChannelDetail; probes: readonly Probe[]; onChanged: () => Promise<unknown> }

const shownAtFirst = 12

/** Each model with what its last test said, and how the upstream's own list differs. */
export function ModelStates({ channel, probes, onChanged }: ModelStatesProps) {
  const [all, setAll] = useState(false)
  const { models, modelMapping, type } = channel
  const unpriced = useUnpriced({ type, models, modelMapping })
  const shown = all ? models : models.slice(0, shownAtFirst)
  return (
    <Section
      title={t('模型（{count}）', { count: models.length })}
      extra={
        channelTypeOf(type)?.modelsEndpoint && <DriftCheck key={channel.id} channel={channel} onChanged={onChanged} />
      }
    >
      <UnpricedNotice models={models.filter((model) => unpriced.has(model))} />
      <Stack as="ul" gap="0" listStyleType="none" textStyle="sm">
        {shown.map((model) => (
          <Flex
            as="li"
            key={model}
            align="center"
            gap="3"
            py="1"
            minH="8"
            borderBottomWidth="1px"
            borderColor="border.muted"
          >
            <Box flex="1" minW="0" truncate>
              <ModelName name={model} />
            </Box>
            {unpriced.has(model) && (
              <Text as="span" textStyle="xs" color="warning.fg">
                {t('没有价格')}
              </Text>
            )}
            <LastTest probe={probes.find((probe) => probe.model === model)} />
          </Flex>
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
    <Status tone="bad" tip={`${tested}\n${probe.message}`}>
      {t('失败')}
    </Status>
  )
}

const comparisonTip = ({ checkedAt, problem }: Drift): string =>
  [t('上次比对于 {time}', { time: formatExactTime(checkedAt) }), problem].filter(Boolean).join('\n')

type DriftCheckProps = { channel: ChannelDetail; onChanged: () => Promise<unknown> }

/** What the last comparison with the upstream's list found, or compares now; one press takes its list over. */
function DriftCheck({ channel, onChanged }: DriftCheckProps) {
  const fetchModels = trpc.admin.channels.fetchModelsOf.useMutation()
  const update = trpc.admin.channels.update.useMutation()
  const lastDrift = trpc.admin.channels.drifts.useQuery({ ids: [channel.id] }).data?.[0]
  const differs = lastDrift && lastDrift.added.length + lastDrift.gone.length > 0 ? lastDrift : undefined
  const drift = fetchModels.data
    ? driftOf(channel.models, fetchModels.data, mappedNames(channel.modelMapping))
    : differs
  const check = () =>
    fetchModels.mutateAsync({ id: channel.id }).catch((error: unknown) => {
      notify.error(error, t('没有取得上游的模型列表'))
    })
  const apply = async (models: string[]) => {
    try {
      await update.mutateAsync({ id: channel.id, models })
      notify.success(t('渠道更新成功！'))
      fetchModels.reset()
      await onChanged()
    } catch (error) {
      notify.error(error, t('模型没有更改'))
    }
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
          disabled={update.isPending}
          onClick={() => void apply([...channel.models, ...added])}
        >
          {t('加入新增的 {count} 个', { count: added.length })}
        </Button>
      )}
      {gone.length > 0 && remaining.length + added.length > 0 && (
        <Button
          size="xs"
          data-tip={gone.slice(0, 30).join('\n')}
          disabled={update.isPending}
          onClick={() => void apply([...remaining, ...added])}
        >
          {t('与上游保持一致')}
        </Button>
      )}
    </HStack>
  )
}
