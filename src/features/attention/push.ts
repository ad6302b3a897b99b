import { z } from 'zod'
import type { Language } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import { userStatus } from '#core/statuses.ts'
import { InstallationFact } from '#db/entities/installation-fact.ts'
import { User } from '#db/entities/user.ts'
import type { Services } from '#features/deps.ts'
import { deliver, type DeliverDeps } from '#features/notifications/deliver.ts'
import { type Bilingual, plainNotice } from '#features/notifications/notice.ts'
import { type Attention, listAttention } from './service.ts'
import { attentionText } from './words.ts'

type PushDeps = DeliverDeps & Pick<Services, 'database' | 'log'>

/** What stood in the list when it was looked at last. */
const knownFact = 'attention_known'
const known = z.array(z.string())

/** One thing that needs a hand, whatever its figures are by now. */
const keyOf = (item: Attention): string =>
  [item.kind, 'channelId' in item ? item.channelId : 'model' in item ? item.model : ''].join(' ')

/** Notified at once, when it happens. */
const isReportedAtOnce = ({ kind }: Attention): boolean => kind === 'channel-disabled'
/** Closes by itself in most cases: notified when it still stands at the next look. */
const mayPass = ({ kind }: Attention): boolean => kind === 'circuit-open'

/** Notifies every administrator of what has come up since the last look, in one notice, by mail or webhook as they have set it. */
export async function pushAttention(deps: PushDeps): Promise<{ items: number; administrators: number }> {
  const em = deps.database.orm.em.fork()
  const items = await listAttention({ ...deps, em })
  const before = await em.findOne(InstallationFact, { name: knownFact })
  const seen = new Set(readKnown(before?.value))
  const pending = (item: Attention): string => `${keyOf(item)} pending`
  const fresh = items.filter(
    (item) => !isReportedAtOnce(item) && !seen.has(keyOf(item)) && (!mayPass(item) || seen.has(pending(item))),
  )
  const isFirstOfPassing = (item: Attention): boolean =>
    mayPass(item) && !seen.has(keyOf(item)) && !seen.has(pending(item))
  const value = JSON.stringify(items.map((item) => (isFirstOfPassing(item) ? pending(item) : keyOf(item))))
  // Written first: whoever looks again after a stop does not say it twice.
  await em.upsert(InstallationFact, { name: knownFact, value })
  if (fresh.length === 0) return { items: 0, administrators: 0 }
  return { items: fresh.length, administrators: await notifyAdministrators(deps, fresh) }
}

function readKnown(text: string | undefined): string[] {
  try {
    return known.parse(JSON.parse(text ?? '[]'))
  } catch {
    return []
  }
}

async function notifyAdministrators(deps: PushDeps, items: readonly Attention[]): Promise<number> {
  const administrators = await deps.database.orm.em
    .fork()
    .find(
      User,
      { role: { $gte: roles.admin }, status: userStatus.active, deletedAt: null },
      { orderBy: { id: 'asc' }, disableIdentityMap: true },
    )
  const notice = noticeOf(items)
  let reached = 0
  for (const administrator of administrators) {
    try {
      if (await deliver(deps, administrator, notice)) reached += 1
    } catch (error) {
      deps.log.error({ err: error, user: administrator.id }, 'an administrator could not be told what needs attention')
    }
  }
  return reached
}

const mostLines = 20

function noticeOf(items: readonly Attention[]): Bilingual {
  const inLanguage = (language: Language) => {
    const title =
      language === 'en'
        ? `${items.length} ${items.length === 1 ? 'thing needs' : 'things need'} attention`
        : `有 ${items.length} 项需要处理`
    const lines = items.slice(0, mostLines).map((item) => attentionText(item)[language])
    const notice = plainNotice('attention', title, lines.join('\n'))
    return { ...notice, lines }
  }
  return { zh: inLanguage('zh'), en: inLanguage('en') }
}
