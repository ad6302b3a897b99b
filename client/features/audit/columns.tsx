import type { RouterOutputs } from '#server/app-router.ts'
import { actText } from '../../components/act-words.ts'
import { Code } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { UserLink } from '../../components/cells/user-link.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'

export type Entry = RouterOutputs['admin']['audit']['list']['items'][number]

export const targetWords = (): Record<string, string> => ({
  user: t('用户'),
  channel: t('渠道'),
  option: t('设置'),
  token: t('令牌'),
  redemption: t('兑换码'),
  message: t('消息'),
  plan: t('套餐'),
  subscription: t('套餐'),
  order: t('订单'),
  group: t('分组'),
  job: t('任务'),
  log: t('日志'),
  site: t('站点'),
})

/** What was acted on, in words. */
export function nameOfTarget({ targetType, targetId, targetName }: Entry): string {
  const name = targetName || (targetId === '0' ? '' : targetId)
  // The word alone is the title of a page too, which English has in the plural.
  if (targetType === 'channel' && name) return t('渠道 {name}', { name })
  return [targetWords()[targetType] ?? targetType, name].filter(Boolean).join(' ')
}

/** As it was called then; a user's name leads to the account. */
export function Target({ entry }: { entry: Entry }) {
  if (entry.targetType !== 'user') return <>{nameOfTarget(entry)}</>
  return <UserLink id={Number(entry.targetId)} name={entry.targetName || `#${entry.targetId}`} />
}

export function ActorName({ entry }: { entry: Entry }) {
  if (entry.actorId === 0) return <>{t('系统')}</>
  return <UserLink id={entry.actorId} name={entry.actorName} />
}

export const auditColumns = (): Column<Entry>[] => [
  { id: 'time', title: t('时间'), width: 170, card: 'fact', cell: ({ createdAt }) => <Time value={createdAt} exact /> },
  { id: 'actor', title: t('操作人'), width: 130, card: 'fact', cell: (entry) => <ActorName entry={entry} /> },
  { id: 'action', title: t('操作类型'), width: 220, fixed: true, card: 'title', cell: ({ action }) => actText(action) },
  { id: 'target', title: t('对象'), width: 200, grow: true, card: 'fact', cell: (entry) => <Target entry={entry} /> },
  { id: 'reason', title: t('原因'), width: 180, cell: ({ reason }) => reason || <None /> },
  { id: 'ip', title: t('IP 地址'), width: 140, cell: ({ clientIp }) => <Code>{clientIp}</Code> },
]
