import { Stack } from '@chakra-ui/react'
import { ListTodo } from 'lucide-react'
import { useMemo } from 'react'
import { taskStatuses } from '#core/tasks/platforms.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { t } from '../../i18n/t.ts'
import { Clips } from './clips.tsx'
import { inputOf, musicColumns } from './music-columns.tsx'
import { type TaskKind, TaskPage } from './task-list.tsx'
import { type MusicTask, musicFilters, useMusicTasks, useOpenMusicTask } from './use-tasks.ts'
import { musicWords } from './words.ts'

const musicKind = (): TaskKind<MusicTask> => ({
  id: 'tasks',
  title: t('任务日志'),
  icon: ListTodo,
  filters: musicFilters,
  actions: musicWords,
  statuses: taskStatuses,
  columns: musicColumns,
  useList: useMusicTasks,
  useOpen: useOpenMusicTask,
  promptOf: inputOf,
  numberOf: (task) => task.taskId,
  facts: (task) => [{ label: t('平台'), value: task.platform }],
  details: (task) => <Details task={task} />,
  empty: {
    filtered: t('没有匹配的任务'),
    title: t('这段时间没有任务'),
    description: t('用令牌提交音乐等任务后，进度、结果和费用会显示在这里。'),
  },
})

/** Made again in another language: what it shows stands in the address. */
export const Page = () => <InLanguage key={useLanguage()} />

function InLanguage() {
  const kind = useMemo(() => musicKind(), [])
  return <TaskPage kind={kind} />
}

function Details({ task }: { task: MusicTask }) {
  const input = inputOf(task)
  return (
    <Stack gap="5">
      {input !== '' && <CodeBlock title={t('提示词')} code={input} wrap />}
      <Clips task={task} />
      {task.data !== null && <CodeBlock title={t('上游返回的数据')} code={JSON.stringify(task.data, null, 2)} />}
    </Stack>
  )
}
