import { None } from '../../components/cells/numbers.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'
import { Action, actionText } from './cells.tsx'
import { endAndReason, figures, idColumn, timeAndState, whoAndWhere } from './common-columns.tsx'
import { Thumbnail } from './image.tsx'
import type { Drawing } from './use-tasks.ts'
import { drawingWords, resultWords } from './words.ts'

export const resultText = (code: number): string => {
  const words = resultWords[code]
  return words ? t(words) : t('未提交')
}

export const drawingColumns = (isAdmin: boolean): Column<Drawing>[] => [
  ...timeAndState<Drawing>(),
  {
    id: 'action',
    title: t('类型'),
    cell: (task) => <Action action={task.action} words={drawingWords} mode={task.mode} />,
    csv: (task) => actionText(task.action, drawingWords),
    width: 120,
  },
  {
    id: 'picture',
    title: t('图片'),
    cell: (task) => <Thumbnail task={task} />,
    csv: (task) => task.imageUrl,
    width: 64,
  },
  {
    id: 'prompt',
    title: t('提示词'),
    cell: (task) => (task.prompt ? <span data-tip={task.prompt.slice(0, 1000)}>{task.prompt}</span> : <None />),
    csv: (task) => task.prompt,
    width: 240,
    grow: true,
    fixed: true,
    card: 'title',
  },
  ...whoAndWhere<Drawing>(isAdmin),
  ...figures<Drawing>(),
  { ...idColumn<Drawing>((task) => task.mjId), hidden: true },
  {
    id: 'code',
    title: t('提交结果'),
    cell: (task) => resultText(task.code),
    csv: (task) => resultText(task.code),
    width: 98,
    hidden: true,
  },
  {
    id: 'prompt-en',
    title: t('英文提示词'),
    cell: (task) => (task.promptEn ? <span data-tip={task.promptEn.slice(0, 1000)}>{task.promptEn}</span> : <None />),
    csv: (task) => task.promptEn,
    width: 200,
    hidden: true,
  },
  ...endAndReason<Drawing>(),
]
