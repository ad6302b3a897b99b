import { BadgePercent, KeyRound, Network, ScrollText, SlidersHorizontal, Users } from 'lucide-react'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { useLanguage } from '../i18n/language.ts'
import { t } from '../i18n/t.ts'
import type { Command, CommandSource } from '../lib/commands.ts'
import { registerCommandSource } from '../lib/commands.ts'
import { refusalCode } from '../lib/errors.ts'
import { abbreviate, formatTime } from '../lib/format.ts'
import { logText } from '../lib/log-text.ts'
import { useSession } from '../lib/session.ts'
import { trpc } from '../lib/trpc.ts'

type Utils = ReturnType<typeof trpc.useUtils>
type Navigate = (address: string) => void

/** Of each kind; whoever looks for more has the page with its filters. */
const mostOfAKind = 5
/** What is found now, not what was found before something was renamed. */
const fresh = { staleTime: 0 }

const isKey = (words: string): boolean => words.startsWith('sk-')
/** In the body of its request: servers and proxies write addresses down. */
const asSecret = { ...fresh, trpc: { context: { long: true } } }

/** A key is nobody's name, and so is not sent there. */
const withoutKeys = (source: CommandSource): CommandSource => ({
  ...source,
  search: async (words, signal) => (isKey(words) ? [] : source.search(words, signal)),
})

const tokenSource = (utils: Utils, navigate: Navigate): CommandSource => ({
  id: 'tokens',
  search: async (words) => {
    const tokens = await (isKey(words)
      ? utils.user.tokens.search.fetch({ key: words }, asSecret)
      : utils.user.tokens.search.fetch({ keyword: words }, fresh))
    return tokens.slice(0, mostOfAKind).map((token) => ({
      id: `token-${token.id}`,
      title: token.name,
      group: t('API令牌'),
      icon: KeyRound,
      note: `sk-${token.keyMask}`,
      run: () => navigate(`/app/tokens?form=${token.id}`),
    }))
  },
})

const userSource = (utils: Utils, navigate: Navigate): CommandSource => ({
  id: 'users',
  search: async (keyword) => {
    const { items } = await utils.admin.users.list.fetch({ keyword, pageSize: mostOfAKind }, fresh)
    return items.map((user) => ({
      id: `user-${user.id}`,
      title: [user.username, user.displayName]
        .filter((name, index, all) => name && all.indexOf(name) === index)
        .join(' · '),
      group: t('用户管理'),
      icon: Users,
      note: `#${user.id}`,
      run: () => navigate(`/app/users/${user.id}`),
    }))
  },
})

const channelSource = (utils: Utils, navigate: Navigate): CommandSource => ({
  id: 'channels',
  search: async (keyword) => {
    const { items } = await utils.admin.channels.list.fetch({ keyword, pageSize: mostOfAKind }, fresh)
    return items.map((channel) => ({
      id: `channel-${channel.id}`,
      title: channel.name,
      group: t('渠道'),
      icon: Network,
      note: `#${channel.id}`,
      run: () => navigate(`/admin/channels?open=${channel.id}`),
    }))
  },
})

const modelSource = (utils: Utils, navigate: Navigate): CommandSource => ({
  id: 'models',
  search: async (words) => {
    const wanted = words.toLowerCase()
    const names = await utils.user.models.list.fetch(undefined)
    return names
      .filter((name) => name.toLowerCase().includes(wanted))
      .slice(0, mostOfAKind)
      .map((name) => ({
        id: `model-${name}`,
        title: name,
        group: t('模型价格'),
        icon: BadgePercent,
        run: () => navigate(`/pricing?open=${encodeURIComponent(name)}`),
      }))
  },
})

const settingSource = (navigate: Navigate): CommandSource => ({
  id: 'settings',
  search: async (words) => {
    const { findSettings } = await import('../features/options/search.ts')
    return findSettings(words)
      .slice(0, 2 * mostOfAKind)
      .map(({ key, label, tab }) => ({
        id: `setting-${key}`,
        title: label,
        group: t('系统设置'),
        icon: SlidersHorizontal,
        note: tab,
        run: () => navigate(`/admin/settings?q=${encodeURIComponent(key)}`),
      }))
  },
})

const isRequestId = (words: string): boolean => /^[\w-]{8,64}$/.test(words)
const isLogId = (words: string): boolean => /^\d{1,15}$/.test(words)

type FoundLog = { modelName: string; content: string; createdAt: Date; promptTokens: number; completionTokens: number }

/** Most words that look like a number of a call are none. */
const noneWhereUnknown = (error: unknown): undefined => {
  if (refusalCode(error) !== 'not_found') throw error
}

const logCommand = (log: FoundLog, run: () => void): Command => ({
  id: 'log',
  title: [
    log.modelName || logText(log.content),
    formatTime(log.createdAt),
    log.modelName && t('{count} 个 Token', { count: abbreviate(log.promptTokens + log.completionTokens) }),
  ]
    .filter(Boolean)
    .join(' · '),
  group: t('使用日志'),
  icon: ScrollText,
  run,
})

const logSource = (utils: Utils, navigate: Navigate, isAdmin: boolean): CommandSource => ({
  id: 'logs',
  search: async (words) => {
    const byNumber = isAdmin && isLogId(words)
    if (!byNumber && !isRequestId(words)) return []
    const asked = isAdmin
      ? utils.admin.logs.get.fetch(byNumber ? { id: Number(words) } : { requestId: words }, fresh)
      : utils.user.logs.get.fetch({ requestId: words }, fresh)
    const log = await asked.catch(noneWhereUnknown)
    return log ? [logCommand(log, () => navigate(`/app/logs/api-usage?range=&open=${encodeURIComponent(words)}`))] : []
  },
})

/** What the palette finds beyond pages: one's own tokens and calls, models, for administrators users and channels, settings for root. */
export function useSearchSources(): void {
  const utils = trpc.useUtils()
  const [, navigate] = useLocation()
  const { user, isAdmin, isRoot } = useSession()
  const language = useLanguage()
  const userId = user?.id
  useEffect(() => {
    if (userId === undefined) return undefined
    const sources = [
      tokenSource(utils, navigate),
      modelSource(utils, navigate),
      ...(isAdmin ? [channelSource(utils, navigate), userSource(utils, navigate)].map(withoutKeys) : []),
      ...(isRoot ? [settingSource(navigate)] : []),
      withoutKeys(logSource(utils, navigate, isAdmin)),
    ]
    const removals = sources.map(registerCommandSource)
    return () => removals.forEach((remove) => remove())
    // The headings change with the language.
  }, [utils, navigate, userId, isAdmin, isRoot, language])
}
