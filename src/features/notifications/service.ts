import type { Language } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { channelStatus, userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import type { Services } from '#features/deps.ts'
import { deliver, type DeliverDeps } from './deliver.ts'
import { type Bilingual, type Notice, plainNotice } from './notice.ts'

export type NoticeDeps = DeliverDeps & Pick<Services, 'database' | 'log'>

const mostInWindow = 2
const windowMinutes = 10

/** Counts a notice for a user among its like, across all processes; false once the user has been notified enough lately. */
async function countNotice({ database }: NoticeDeps, userId: number, like: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `insert into notification_counts as c (user_id, type, window_at, count) values ($1, $2, now(), 1)
     on conflict (user_id, type) do update set
       window_at = case when c.window_at <= now() - make_interval(mins => $4) then now() else c.window_at end,
       count = case when c.window_at <= now() - make_interval(mins => $4) then 1 else c.count + 1 end
     where c.count < $3 or c.window_at <= now() - make_interval(mins => $4)`,
    [userId, like, mostInWindow, windowMinutes],
  )
  return rowCount === 1
}

/** Windows that are over say nothing any more. */
export async function forgetNoticeCounts({ database }: Pick<Services, 'database'>): Promise<number> {
  const { rowCount } = await database.pool.query(
    'delete from notification_counts where window_at <= now() - make_interval(mins => $1)',
    [windowMinutes],
  )
  return rowCount ?? 0
}

/**
 * Notifies the root user; of one thing of many (an order) whatever is said of the others meanwhile. Never rejects: what it is
 * about has happened, whoever learns of it.
 */
export async function notifyRoot(deps: NoticeDeps, notice: Notice | Bilingual, of?: string): Promise<void> {
  const written = 'zh' in notice ? notice : { zh: notice, en: notice }
  try {
    const root = await deps.database.orm.em
      .fork()
      .findOne(
        User,
        { role: roles.root, status: userStatus.active, deletedAt: null },
        { orderBy: { id: 'asc' }, disableIdentityMap: true },
      )
    const { type } = written.zh
    if (root && (await countNotice(deps, root.id, of ? `${type} ${of}` : type))) await deliver(deps, root, written)
  } catch (error) {
    deps.log.error({ err: error, notice: written.zh.type }, 'the root user could not be notified')
  }
}

type ChannelChange = { id: number; name: string; status: 'disabled' | 'enabled'; reason?: string }

const channelTitles = {
  zh: {
    disabled: (channel: string) => `渠道 ${channel} 已自动禁用`,
    enabled: (channel: string) => `渠道 ${channel} 已重新启用`,
    because: (title: string, reason: string) => `${title}，原因：${reason}`,
  },
  en: {
    disabled: (channel: string) => `Channel ${channel} was disabled automatically`,
    enabled: (channel: string) => `Channel ${channel} was enabled again`,
    because: (title: string, reason: string) => `${title}: ${reason}`,
  },
}

/** A channel changed by itself. */
export function notifyOfChannel(deps: NoticeDeps, { id, name, status, reason = '' }: ChannelChange): Promise<void> {
  const code = status === 'disabled' ? channelStatus.autoDisabled : channelStatus.enabled
  const type = `channel_update_${id}_${code}`
  const notified = (language: Language) => {
    const title = channelTitles[language][status](`${name} (#${id})`)
    return plainNotice(type, title, reason ? channelTitles[language].because(title, reason) : title)
  }
  return notifyRoot(deps, { zh: notified('zh'), en: notified('en') })
}
