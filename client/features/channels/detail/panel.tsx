import type { ChannelDetail } from '../channel-detail.ts'
import { Button, Skeleton, Stack } from '@chakra-ui/react'
import { FlaskConical, Pencil } from 'lucide-react'
import { Code, Tags } from '../../../components/cells/names.tsx'
import { None } from '../../../components/cells/numbers.tsx'
import { Time } from '../../../components/cells/time.tsx'
import { DetailPanel, neighbours } from '../../../components/detail-panel.tsx'
import { Facts, Section } from '../../../components/facts.tsx'
import { IconButton } from '../../../components/icon-button.tsx'
import { ErrorState, StaleNotice } from '../../../components/states.tsx'
import { t } from '../../../i18n/t.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { recentProbes } from '../tests/result-cache.ts'
import { ChannelStatus, ResponseTime } from '../list/cells.tsx'
import { InlineNumber } from '../list/inline-number.tsx'
import type { Opening } from '../list/row-cells.tsx'
import { Used } from '../list/row-cells.tsx'
import type { Channel } from '../list/rows.ts'
import type { Cooldown } from '../list/use-cooldowns.ts'
import { useCooldowns } from '../list/use-cooldowns.ts'
import { typeLabel } from '../types.ts'
import type { ChannelActions } from '../use-channel-actions.ts'
import { KeyStates } from './key-states.tsx'
import { ModelStates } from './model-states.tsx'
import { Probes } from './probes.tsx'

type ChannelPanelProps = {
  /** 0 is closed. */
  id: number
  channels: readonly Channel[]
  opening: Opening
  actions: ChannelActions
  onOpen: (id: number) => void
  onClose: () => void
}

/** One channel beside the list: what it is, the state of its keys and models, its last probes. */
export function ChannelPanel({ id, channels, opening, actions, onOpen, onClose }: ChannelPanelProps) {
  const isOpen = id !== 0
  const detail = trpc.admin.channels.get.useQuery({ id }, { enabled: isOpen, gcTime: 0 })
  const health = trpc.admin.channels.health.useQuery(
    { ids: [id], limit: recentProbes },
    { ...reportedWhenFailed, enabled: isOpen },
  )
  const channel = detail.data
  const name = channel?.name ?? channels.find((one) => one.id === id)?.name ?? `#${id}`
  const around = neighbours(
    channels,
    (one) => one.id === id,
    (one) => onOpen(one.id),
  )
  const probes = health.data?.[0]?.probes ?? []
  const cooldowns = useCooldowns(isOpen ? [id] : [], 5000).get(id) ?? []
  return (
    <DetailPanel
      openId={isOpen ? id : undefined}
      onClose={onClose}
      title={name}
      label={t('渠道 {name}', { name })}
      subtitle={channel && `#${id} · ${typeLabel(channel.type)}`}
      {...around}
      actions={
        channel && (
          <>
            <IconButton icon={FlaskConical} label={t('测试模型')} onClick={() => opening.test(channel)} />
            <IconButton icon={Pencil} label={t('编辑')} onClick={() => opening.edit(channel)} />
          </>
        )
      }
    >
      {detail.isError && !channel ? (
        <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
      ) : channel ? (
        <Stack gap="7">
          {detail.error && <StaleNotice error={detail.error} onRetry={detail.refetch} />}
          <Overview channel={channel} actions={actions} cooldowns={cooldowns} />
          <KeyStates channel={channel} cooldowns={cooldowns} onChanged={actions.refresh} />
          <ModelStates channel={channel} probes={probes} cooldowns={cooldowns} actions={actions} />
          <Section title={t('最近的测试')}>
            <Probes probes={probes} isLoading={health.isLoading} />
          </Section>
        </Stack>
      ) : (
        <Stack gap="3">
          {[0, 1, 2, 3, 4, 5].map((line) => (
            <Skeleton key={line} h="5" />
          ))}
        </Stack>
      )}
    </DetailPanel>
  )
}

type OverviewProps = { channel: ChannelDetail; actions: ChannelActions; cooldowns: readonly Cooldown[] }

function Overview({ channel, actions, cooldowns }: OverviewProps) {
  const isOn = channel.status === 1
  return (
    <Section
      title={t('概况')}
      extra={
        <Button size="xs" onClick={() => void actions.setStatus(channel, !isOn)}>
          {isOn ? t('禁用') : t('启用')}
        </Button>
      }
    >
      <Facts
        facts={[
          { label: t('状态'), value: <ChannelStatus of={channel} cooldowns={cooldowns} /> },
          { label: t('原因'), value: channel.statusReason, hidden: channel.statusReason === '' },
          { label: t('禁用时间'), value: <Time value={channel.statusAt} />, hidden: channel.statusAt === null },
          { label: t('分组'), value: <Tags values={channel.groups} most={20} /> },
          { label: t('标签'), value: channel.tag, hidden: channel.tag === '' },
          {
            label: t('优先级'),
            value: (
              <InlineNumber
                kind="priority"
                label={t('{name} 的优先级', { name: channel.name })}
                value={channel.priority}
                save={(priority) => actions.setPriority(channel.id, priority)}
              />
            ),
          },
          {
            label: t('权重'),
            value: (
              <InlineNumber
                kind="weight"
                label={t('{name} 的权重', { name: channel.name })}
                value={channel.weight}
                save={(weight) => actions.setWeight(channel.id, weight)}
              />
            ),
          },
          { label: t('API 地址'), value: channel.baseUrl ? <Code>{channel.baseUrl}</Code> : t('官方地址') },
          { label: t('模型前缀'), value: <Code>{channel.modelPrefix}</Code>, hidden: channel.modelPrefix === '' },
          {
            label: t('响应时间'),
            value: <ResponseTime milliseconds={channel.responseTimeMs} testedAt={channel.testedAt} />,
          },
          { label: t('测试时间'), value: channel.testedAt ? <Time value={channel.testedAt} /> : <None /> },
          {
            label: t('已用 / 余额'),
            value: <Used channel={channel} onUpdate={() => actions.updateBalance(channel)} />,
          },
          { label: t('自动禁用'), value: channel.autoBan ? t('开') : t('关') },
          { label: t('创建时间'), value: <Time value={channel.createdAt} /> },
        ]}
      />
    </Section>
  )
}
