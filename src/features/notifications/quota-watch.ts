import { LRUCache } from 'lru-cache'
import { entryLimit } from '#core/cache-limit.ts'
import { formatQuota } from '#core/quota.ts'
import type { UserSetting } from '#db/entities/user.ts'
import type { Services } from '#features/deps.ts'
import { deliver } from './deliver.ts'
import type { Language } from '#core/errors.ts'
import type { Bilingual, Notice } from './notice.ts'
import type { NoticeDeps } from './service.ts'
import { publicAddress } from '../site/public-address.ts'
import { siteThreshold } from './site-threshold.ts'

/** After a warning, or a failed attempt, this process leaves the user alone for a while. */
const pauseMs = 10 * 60_000

/** Called after each charge; answers at once and warns beside it. */
export type QuotaWatch = (charged: { userId: number; balance: number }) => void

type WatchDeps = NoticeDeps & Pick<Services, 'environment'>

/** Warns users whose balance falls below their threshold, each at most once in two hours, whatever process charges. */
export function createQuotaWatch(given: {
  deps: () => WatchDeps
  /** The threshold a user saved; null for none. */
  thresholdOf: (userId: number) => number | null | Promise<number | null>
}): QuotaWatch {
  const recentlyNotified = new LRUCache<number, true>({ ...entryLimit(100_000), ttl: pauseMs })

  const warnBelowThreshold = async (charged: { userId: number; balance: number }): Promise<void> => {
    const own = await given.thresholdOf(charged.userId)
    const deps = given.deps()
    if (charged.balance >= (own ?? siteThreshold(deps)) || recentlyNotified.has(charged.userId)) return
    recentlyNotified.set(charged.userId, true)
    await warn(deps, charged)
  }

  return (charged) => {
    if (recentlyNotified.has(charged.userId)) return
    warnBelowThreshold(charged).catch((error: unknown) =>
      given.deps().log.error({ err: error, user: charged.userId }, 'a user could not be warned of a low balance'),
    )
  }
}

type Warned = { email: string; language: Language | ''; setting: UserSetting | null }

async function warn(deps: WatchDeps, { userId, balance }: { userId: number; balance: number }): Promise<void> {
  const { pool } = deps.database
  // Of all calls on all processes that find the balance low, the one that writes this warns.
  const { rows } = await pool.query<Warned>(
    `update users set quota_warned_at = now() where id = $1 and deleted_at is null
       and (quota_warned_at is null or quota_warned_at <= now() - interval '2 hours') returning email, language, setting`,
    [userId],
  )
  const [user] = rows
  if (!user) return
  try {
    await deliver(deps, user, quotaNotice(deps, balance))
  } catch (error) {
    // Nobody was notified: another attempt may come once the pause is over.
    await pool.query(
      `update users set quota_warned_at = now() - interval '2 hours' + interval '10 minutes' where id = $1`,
      [userId],
    )
    throw error
  }
}

const words = {
  zh: {
    title: '额度不足提醒',
    nearlySpent: '您的额度即将用尽',
    spent: '您的额度已用尽',
    content: `{{value}}，当前剩余额度为 {{value}}，请及时充值，以免影响使用。充值链接：<a href="{{value}}">{{value}}</a>`,
    line: (text: string, left: string) => `${text}，当前剩余额度为 ${left}，请及时充值，以免影响使用。`,
    link: '充值链接：',
  },
  en: {
    title: 'Low balance',
    nearlySpent: 'Your quota is nearly used up',
    spent: 'Your quota is used up',
    content: `{{value}}: {{value}} left. Please top up to keep your calls working: <a href="{{value}}">{{value}}</a>`,
    line: (text: string, left: string) => `${text}: ${left} left. Please top up to keep your calls working.`,
    link: 'Top up here:',
  },
}

function quotaNotice(deps: WatchDeps, balance: number): Bilingual {
  return { zh: quotaNoticeIn('zh', deps, balance), en: quotaNoticeIn('en', deps, balance) }
}

function quotaNoticeIn(language: Language, deps: WatchDeps, balance: number): Notice {
  const { options } = deps
  const { title, nearlySpent, spent, content, line, link: toTopUp } = words[language]
  const text = balance > 0 ? nearlySpent : spent
  const left = formatQuota(balance, {
    quotaPerUnit: options.get('QuotaPerUnit'),
    inCurrency: options.get('DisplayInCurrencyEnabled'),
    digits: 6,
  })
  const link = `${publicAddress(deps)}/app/wallet`
  const lines = [line(text, left), toTopUp]
  return { type: 'quota_exceed', title, content, values: [text, left, link, link], lines, link }
}
