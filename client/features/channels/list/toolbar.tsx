import { Button } from '@chakra-ui/react'
import { ArrowDown01, Layers, ListChecks } from 'lucide-react'
import { channelStatus } from '#core/statuses.ts'
import { FilterBar } from '../../../components/filter-bar/filter-bar.tsx'
import type { Facet } from '../../../components/filter-bar/types.ts'
import { t } from '../../../i18n/t.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { everyType } from '../types.ts'
import type { ChannelList } from './use-channel-list.ts'

const mostTags = 200
const asChoice = (value: string) => ({ value, label: value })

function useFacets(): Facet[] {
  const groups = trpc.admin.groups.names.useQuery(undefined, reportedWhenFailed)
  const tags = trpc.admin.channels.tags.list.useQuery({ offset: 0, limit: mostTags }, reportedWhenFailed)
  return [
    { id: 'model', kind: 'text', label: t('模型'), placeholder: t('模型名的一部分') },
    { id: 'group', kind: 'choice', label: t('分组'), choices: (groups.data ?? []).map(asChoice) },
    { id: 'types', kind: 'choices', fixed: true, label: t('类型'), choices: everyType() },
    {
      id: 'statuses',
      kind: 'choices',
      fixed: true,
      label: t('状态'),
      choices: [
        { value: String(channelStatus.enabled), label: t('已启用') },
        { value: String(channelStatus.disabled), label: t('已禁用') },
        { value: String(channelStatus.autoDisabled), label: t('自动禁用') },
      ],
    },
    { id: 'tags', kind: 'choices', label: t('标签'), choices: (tags.data ?? []).map(asChoice) },
  ]
}

/** Search, filters, and the two ways to see the list: by number, and folded by tag. */
export function ChannelToolbar({ list }: { list: ChannelList }) {
  const facets = useFacets()
  return (
    <FilterBar
      query={{ id: 'keyword', placeholder: t('搜索 ID、名称、密钥') }}
      facets={facets}
      values={list.filters}
      onChange={list.setFilters}
      extra={
        <>
          <Toggle on={list.sortsById} onChange={list.setSortsById} icon={ArrowDown01} label={t('按 ID 排序')} />
          <Toggle
            on={list.folds}
            onChange={list.setFolds}
            icon={Layers}
            label={t('按标签聚合')}
            tip={t('没有标签的渠道不在其中')}
          />
          <Toggle on={list.isBatch} onChange={list.setBatch} icon={ListChecks} label={t('批量模式')} />
        </>
      }
    />
  )
}

type ToggleProps = { on: boolean; onChange: (on: boolean) => void; icon: typeof Layers; label: string; tip?: string }

function Toggle({ on, onChange, icon: Icon, label, tip }: ToggleProps) {
  return (
    <Button
      variant={on ? 'subtle' : 'ghost'}
      colorPalette={on ? 'accent' : undefined}
      aria-pressed={on}
      data-tip={tip}
      px={{ base: '2', md: '3' }}
      onClick={() => onChange(!on)}
    >
      <Icon aria-hidden />
      {label}
    </Button>
  )
}
