import { Button } from '@chakra-ui/react'
import { FlaskConical, Power, PowerOff, RefreshCw, Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Selection } from '../../../components/data-table/types.ts'
import { t } from '../../../i18n/t.ts'
import type { Row } from '../list/rows.ts'
import { channelsOf } from '../list/rows.ts'
import type { ChannelActions, Named } from '../use-channel-actions.ts'
import { TagDialog } from './tag-dialog.tsx'
import type { Jobs } from './use-jobs.ts'

type BulkBarProps = {
  selection: Selection<Row>
  actions: ChannelActions
  jobs: Jobs
  /** Names of channels that were chosen without having been shown. */
  names: ReadonlyMap<number, string>
}

/** A selected tag stands for its channels. */
function chosenChannels(selection: Selection<Row>, names: BulkBarProps['names']): Named[] {
  const shown = channelsOf(selection.rows)
  const known = new Set(shown.map(({ id }) => id))
  const others = selection.ids.filter((id) => typeof id === 'number' && !known.has(id)) as number[]
  return [...shown, ...others.map((id) => ({ id, name: names.get(id) ?? `#${id}` }))]
}

/** What can be done with all selected channels. */
export function BulkBar({ selection, actions, jobs, names }: BulkBarProps) {
  const channels = chosenChannels(selection, names)
  const [tagging, setTagging] = useState(false)
  /** What was not done stays selected, to be tried again. */
  const done = (isDone: boolean) => isDone && selection.clear()
  return (
    <>
      <Button size="xs" onClick={() => void actions.setStatusOfMany(channels, true).then(done)}>
        <Power aria-hidden />
        {t('启用')}
      </Button>
      <Button size="xs" onClick={() => void actions.setStatusOfMany(channels, false).then(done)}>
        <PowerOff aria-hidden />
        {t('禁用')}
      </Button>
      <Button size="xs" onClick={() => setTagging(true)}>
        <Tag aria-hidden />
        {t('设置标签')}
      </Button>
      <Button size="xs" onClick={() => jobs.test(channels)}>
        <FlaskConical aria-hidden />
        {t('测试')}
      </Button>
      <Button size="xs" onClick={() => jobs.updateBalances(channels)}>
        <RefreshCw aria-hidden />
        {t('更新余额')}
      </Button>
      <Button
        size="xs"
        variant="surface"
        colorPalette="bad"
        onClick={() => void actions.removeMany(channels).then(done)}
      >
        <Trash2 aria-hidden />
        {t('删除')}
      </Button>
      {tagging && <TagDialog channels={channels} onClose={() => setTagging(false)} onDone={selection.clear} />}
    </>
  )
}
