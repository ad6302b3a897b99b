import { Link, Stack, Tag } from '@chakra-ui/react'
import { Brush } from 'lucide-react'
import { useMemo } from 'react'
import { drawingStatuses } from '#core/tasks/drawing.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Section } from '../../components/facts.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { t } from '../../i18n/t.ts'
import { drawingColumns, resultText } from './drawing-columns.tsx'
import { ImageView } from './image.tsx'
import { type TaskKind, TaskPage } from './task-list.tsx'
import { type Drawing, drawingFilters, useDrawings, useOpenDrawing } from './use-tasks.ts'
import { drawingWords } from './words.ts'

const drawingKind = (): TaskKind<Drawing> => ({
  id: 'drawings',
  title: t('绘图日志'),
  icon: Brush,
  filters: drawingFilters,
  actions: drawingWords,
  statuses: drawingStatuses,
  columns: drawingColumns,
  useList: useDrawings,
  useOpen: useOpenDrawing,
  promptOf: (task) => task.prompt,
  numberOf: (task) => task.mjId,
  facts: (task) => [
    { label: t('提交结果'), value: resultText(task.code) },
    {
      label: t('上游说明'),
      value: task.description,
      hidden: task.description === '' || task.description === task.failReason,
    },
  ],
  details: (task) => <Details task={task} />,
  empty: {
    filtered: t('没有匹配的任务'),
    title: t('这段时间没有绘图任务'),
    description: t('用令牌提交绘图后，进度、图片和费用会显示在这里。'),
  },
})

/** Made again in another language: what it shows stands in the address. */
export const Page = () => <InLanguage key={useLanguage()} />

function InLanguage() {
  const kind = useMemo(() => drawingKind(), [])
  return <TaskPage kind={kind} />
}

/** Labels of the buttons that the upstream offers for what follows. */
function labelsOf(buttons: unknown): string[] {
  if (!Array.isArray(buttons)) return []
  return buttons.flatMap((button: unknown) => {
    if (typeof button !== 'object' || button === null) return []
    const { label, emoji } = button as { label?: unknown; emoji?: unknown }
    const text = [emoji, label].filter((part) => typeof part === 'string' && part !== '').join(' ')
    return text === '' ? [] : [text]
  })
}

function Details({ task }: { task: Drawing }) {
  const labels = labelsOf(task.buttons)
  return (
    <Stack gap="5">
      <ImageView task={task} />
      {task.prompt !== '' && <CodeBlock title={t('提示词')} code={task.prompt} wrap />}
      {task.promptEn !== '' && task.promptEn !== task.prompt && (
        <CodeBlock title={t('英文提示词')} code={task.promptEn} wrap />
      )}
      {/^https?:/.test(task.videoUrl) && (
        <Link href={task.videoUrl} target="_blank" rel="noreferrer" textStyle="sm">
          {t('打开视频')}
        </Link>
      )}
      {labels.length > 0 && (
        <Section title={t('可用的后续操作')}>
          <Stack direction="row" wrap="wrap" gap="1.5">
            {labels.map((label, index) => (
              <Tag.Root key={`${label} ${index}`}>
                <Tag.Label>{label}</Tag.Label>
              </Tag.Root>
            ))}
          </Stack>
        </Section>
      )}
    </Stack>
  )
}
