import { None } from '../../components/cells/numbers.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'
import { Action, actionText } from './cells.tsx'
import { endAndReason, figures, idColumn, timeAndState, whoAndWhere } from './common-columns.tsx'
import type { MusicTask } from './use-tasks.ts'
import { musicWords } from './words.ts'

/** What its owner asked for, in words. */
export const inputOf = ({ properties }: MusicTask): string => {
  const input =
    typeof properties === 'object' && properties !== null && 'input' in properties ? properties.input : undefined
  return typeof input === 'string' ? input : ''
}

export const musicColumns = (isAdmin: boolean): Column<MusicTask>[] => [
  ...timeAndState<MusicTask>(),
  {
    id: 'action',
    title: t('类型'),
    cell: (task) => <Action action={task.action} words={musicWords} />,
    csv: (task) => actionText(task.action, musicWords),
    width: 104,
  },
  {
    id: 'input',
    title: t('提示词'),
    cell: (task) => {
      const input = inputOf(task)
      return input === '' ? <None /> : <span data-tip={input.slice(0, 1000)}>{input}</span>
    },
    csv: inputOf,
    width: isAdmin ? 160 : 240,
    grow: true,
    fixed: true,
    card: 'title',
  },
  ...whoAndWhere<MusicTask>(isAdmin),
  ...figures<MusicTask>(),
  { ...idColumn<MusicTask>((task) => task.taskId), width: isAdmin ? 164 : 220 },
  { id: 'platform', title: t('平台'), cell: (task) => task.platform, csv: (task) => task.platform, hidden: true },
  ...endAndReason<MusicTask>(),
]
