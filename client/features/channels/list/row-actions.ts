import {
  CloudDownload,
  Copy,
  FlaskConical,
  Layers,
  ListTree,
  Pencil,
  Power,
  PowerOff,
  RefreshCw,
  Tags,
  Trash2,
} from 'lucide-react'
import type { MenuAction } from '../../../components/action-menu.tsx'
import { t } from '../../../i18n/t.ts'
import type { ChannelActions } from '../use-channel-actions.ts'
import type { Drift } from './drift-mark.tsx'
import type { Opening } from './row-cells.tsx'
import type { Channel, Row, TagRow } from './rows.ts'

type Acts = {
  actions: ChannelActions
  opening: Opening
  driftOf: ReadonlyMap<number, Drift>
  unpricedOf: ReadonlyMap<number, readonly string[]>
  toggleTag: (tag: string) => void
}

/** The menu at the end of a row. */
export const rowActions = (row: Row, acts: Acts): MenuAction[] =>
  row.kind === 'tag' ? tagActions(row, acts) : channelActions(row.channel, acts)

function channelActions(channel: Channel, { actions, opening, driftOf, unpricedOf }: Acts): MenuAction[] {
  const isOn = channel.status === 1
  const drift = driftOf.get(channel.id)
  const unpriced = unpricedOf.get(channel.id) ?? []
  return [
    { id: 'test', label: t('测试模型'), icon: FlaskConical, onSelect: () => opening.test(channel) },
    { id: 'edit', label: t('编辑'), icon: Pencil, onSelect: () => opening.edit(channel) },
    { id: 'copy', label: t('复制渠道'), icon: Copy, onSelect: () => void actions.copy(channel) },
    {
      id: 'balance',
      label: t('更新余额'),
      icon: RefreshCw,
      onSelect: () => void actions.updateBalance(channel),
    },
    {
      id: 'drift',
      label: t('与上游的模型保持一致'),
      icon: CloudDownload,
      hidden: !drift || drift.added.length + drift.gone.length === 0,
      onSelect: () => drift && void actions.applyDrift(channel, drift),
    },
    {
      id: 'price',
      label: t('为 {count} 个模型设置价格', { count: unpriced.length }),
      icon: Tags,
      hidden: unpriced.length === 0,
      onSelect: () => opening.price(unpriced),
    },
    {
      id: 'tag',
      label: t('编辑标签'),
      icon: Layers,
      hidden: channel.tag === '',
      onSelect: () => opening.editTag(channel.tag),
    },
    {
      id: 'status',
      label: isOn ? t('禁用') : t('启用'),
      icon: isOn ? PowerOff : Power,
      separated: true,
      onSelect: () => void actions.setStatus(channel, !isOn),
    },
    { id: 'remove', label: t('删除'), icon: Trash2, danger: true, onSelect: () => void actions.remove(channel) },
  ]
}

const tagActions = (row: TagRow, { actions, opening, toggleTag }: Acts): MenuAction[] => [
  {
    id: 'unfold',
    label: row.unfolded ? t('收起渠道') : t('展开渠道'),
    icon: ListTree,
    onSelect: () => toggleTag(row.tag),
  },
  { id: 'edit', label: t('编辑标签'), icon: Pencil, onSelect: () => opening.editTag(row.tag) },
  {
    id: 'enable',
    label: t('全部启用'),
    icon: Power,
    separated: true,
    onSelect: () => void actions.setTagStatus(row.tag, true),
  },
  { id: 'disable', label: t('全部禁用'), icon: PowerOff, onSelect: () => void actions.setTagStatus(row.tag, false) },
]
