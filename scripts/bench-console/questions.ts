import { firstId } from './seed.ts'
import { channelName, groupCount, groupName, hourMs, modelName, type Size, userName } from './rows.ts'

/** A look of somebody at the console, or of a program at a documented path; values change from one asking to the next. */
export type Question = {
  what: string
  as: 'root' | 'user'
} & ({ procedure: string; input?: (given: Given) => Record<string, unknown> } | { path: (given: Given) => string })
export type Given = { random: () => number; size: Size }

const dayMs = 24 * hourMs
const any = ({ random }: Given, count: number): number => Math.floor(random() * count)
const often = ({ random }: Given, count: number): number => Math.floor(count * random() ** 3)
const range = ({ size: { now } }: Given, ms: number, endsBefore = 0) => ({
  start: new Date(now.getTime() - endsBefore - ms),
  end: new Date(now.getTime() - endsBefore),
})
/** Somewhere in what is logged. */
const anywhere = (given: Given, ms: number) =>
  range(given, ms, Math.floor(given.random() * (given.size.days * dayMs - ms)))
const month = (given: Given) => range(given, 30 * dayMs)

const logFilters: Record<string, (given: Given) => Record<string, unknown>> = {
  'no filter': () => ({}),
  'page 500': () => ({ page: 500, pageSize: 20 }),
  'the last day': (given) => range(given, dayMs),
  'one hour of the past': (given) => anywhere(given, hourMs),
  'one day of the past': (given) => anywhere(given, dayMs),
  'a month': month,
  'a busy channel': (given) => ({ channelId: firstId + often(given, 100) }),
  'a rare channel': (given) => ({ channelId: firstId + given.size.channels - 1 - any(given, 10) }),
  'a channel by name': (given) => ({ channelName: channelName(any(given, given.size.channels)) }),
  'a rare channel in one day': (given) => ({
    channelId: firstId + given.size.channels - 1 - any(given, 10),
    ...anywhere(given, dayMs),
  }),
  'a common token name': (given) => ({ tokenName: `token-${any(given, 200)}` }),
  'a token name of one': (given) => ({ tokenName: `only-${7 + 500 * any(given, given.size.users / 250)}` }),
  'a token name of nobody': (given) => ({ tokenName: `nobody-${any(given, 1000)}` }),
  'a model': (given) => ({ modelName: modelName(often(given, 100)) }),
  'a rare model in one hour': (given) => ({ modelName: modelName(119), ...anywhere(given, hourMs) }),
  'a model pattern': (given) => ({ modelName: `gpt-${1 + any(given, 9)}%` }),
  'a model pattern without match': (given) => ({ modelName: `%nothing-${any(given, 1000)}%` }),
  'a model pattern in one day': (given) => ({ modelName: `%-11${any(given, 9)}`, ...anywhere(given, dayMs) }),
  'several models': (given) => ({ modelName: [modelName(often(given, 100)), modelName(119)] }),
  'a common group': () => ({ group: 'default' }),
  'a rare group': () => ({ group: groupName(groupCount - 1) }),
  'a group of nobody': (given) => ({ group: `nobody-${any(given, 1000)}` }),
  'a rare group in one hour': (given) => ({ group: groupName(groupCount - 1), ...anywhere(given, hourMs) }),
  'a busy user': (given) => ({ username: userName(often(given, 20)) }),
  'any user': (given) => ({ username: userName(any(given, given.size.users)) }),
  'any user in one month': (given) => ({ username: userName(any(given, given.size.users)), ...month(given) }),
  'a user and a model': (given) => ({ username: userName(often(given, 20)), modelName: modelName(any(given, 119)) }),
  'a session': (given) => ({ session: `session-${any(given, 1000)}` }),
  'a request': (given) => ({ requestId: `request-${1 + any(given, given.size.logs)}` }),
  'failed calls': () => ({ outcome: ['failed'] }),
  'failed calls of a day': (given) => ({ outcome: ['failed'], ...anywhere(given, dayMs) }),
  'interrupted calls': () => ({ outcome: ['interrupted'] }),
  'a type that is rare': () => ({ type: 3 }),
  'dear calls': () => ({ minQuota: 500_000 }),
  'slow calls': () => ({ minMs: 95_000 }),
  'impossibly slow calls': () => ({ minMs: 2_000_000_000 }),
  'slow calls of a day': (given) => ({ minMs: 90_000, ...anywhere(given, dayMs) }),
  'the most expensive of a day': (given) => ({ sort: 'quota', ...anywhere(given, dayMs) }),
  'the slowest of an hour': (given) => ({ sort: 'useTime', ...anywhere(given, hourMs) }),
  'the most expensive of all': () => ({ sort: 'quota' }),
}

const statFilters = [
  'no filter',
  'the last day',
  'one hour of the past',
  'one day of the past',
  'a month',
  'a busy channel',
  'a rare channel',
  'a common token name',
  'a token name of one',
  'a model',
  'a model pattern',
  'a common group',
  'a rare group',
  'any user',
  'a busy user',
  'any user in one month',
  'a session',
  'failed calls of a day',
  'slow calls of a day',
]

const seriesFilters: Record<string, (given: Given) => Record<string, unknown>> = {
  'a month': (given) => ({ ...month(given), interval: 'day' }),
  'a month by the hour': (given) => ({ ...month(given), interval: 'hour' }),
  'a week': (given) => ({ ...range(given, 7 * dayMs), interval: 'hour' }),
  'a month of a model': (given) => ({ ...month(given), interval: 'day', modelName: modelName(often(given, 100)) }),
  'a month of a channel': (given) => ({ ...month(given), interval: 'day', channelId: firstId + often(given, 1000) }),
  'a month of a group': (given) => ({ ...month(given), interval: 'day', group: groupName(any(given, groupCount)) }),
  'a month of a user': (given) => ({ ...month(given), interval: 'day', username: userName(often(given, 100)) }),
}

const unix = (time: Date): number => Math.floor(time.getTime() / 1000)
const times = ({ start, end }: { start: Date; end: Date }): string =>
  `start_timestamp=${unix(start)}&end_timestamp=${unix(end)}`

const asRoot = (what: string, procedure: string, input?: (given: Given) => Record<string, unknown>): Question => ({
  what,
  as: 'root',
  procedure,
  ...(input ? { input } : {}),
})
const asUser = (what: string, procedure: string, input?: (given: Given) => Record<string, unknown>): Question => ({
  ...asRoot(what, procedure, input),
  as: 'user',
})
const documented = (as: Question['as'], what: string, path: (given: Given) => string): Question => ({ what, as, path })

export const questions: Question[] = [
  ...Object.entries(logFilters).map(([what, input]) => asRoot(`log: ${what}`, 'admin.logs.list', input)),
  ...statFilters.map((what) => asRoot(`log totals: ${what}`, 'admin.logs.stat', logFilters[what])),
  asRoot('log: keyword at the beginning', 'admin.logs.search', () => ({ keyword: 'The engine is' })),
  asRoot('log: keyword without match', 'admin.logs.search', (given) => ({ keyword: `nothing ${any(given, 1000)}` })),
  asRoot('log: keyword, a type', 'admin.logs.search', () => ({ keyword: '3' })),
  asRoot('log: what a channel may be called', 'admin.logs.suggest', (given) => ({
    field: 'channel',
    text: `${any(given, 1000)}`,
  })),
  asRoot('log: what a user may be called', 'admin.logs.suggest', (given) => ({
    field: 'user',
    text: `${any(given, 10_000)}`,
  })),
  asRoot('log: what a token may be called', 'admin.logs.suggest', (given) => ({
    field: 'token',
    text: `token-${any(given, 100)}`,
  })),
  asRoot('log: what a model may be called', 'admin.logs.suggest', (given) => ({
    field: 'model',
    text: `${any(given, 100)}`,
  })),
  asUser('own log: no filter', 'user.logs.list', () => ({})),
  asUser('own log: one day of the past', 'user.logs.list', (given) => anywhere(given, dayMs)),
  asUser('own log: a model', 'user.logs.list', () => ({ modelName: modelName(100) })),
  asUser('own log: totals of a month', 'user.logs.stat', month),
  asUser('own log: what a model may be called', 'user.logs.suggest', () => ({ field: 'model', text: 'gpt' })),
  ...Object.entries(seriesFilters).map(([what, input]) =>
    asRoot(`series and top models: ${what}`, 'admin.stats.series', input),
  ),
  ...Object.entries(seriesFilters).map(([what, input]) =>
    asRoot(`dashboard totals: ${what}`, 'admin.stats.overview', (given) => ({ ...input(given), interval: undefined })),
  ),
  asRoot('dashboard: live', 'admin.stats.live', () => ({})),
  asUser('own dashboard: totals of a month', 'user.stats.overview', month),
  asUser('own dashboard: series of a month', 'user.stats.series', (given) => ({ ...month(given), interval: 'day' })),
  asRoot('attention', 'admin.attention.list'),
  asRoot('cost and margins of a page of channels', 'admin.prices.channelMargins', (given) => ({
    channelIds: Array.from({ length: 100 }, () => firstId + any(given, given.size.channels)),
  })),
  asRoot('cost and margin of a channel', 'admin.prices.channelMoney', (given) => ({
    channelId: firstId + often(given, 1000),
  })),
  ...people(),
  ...lists(),
  ...paths(),
]

function people(): Question[] {
  const users = (what: string, input: (given: Given) => Record<string, unknown>): Question =>
    asRoot(`users: ${what}`, 'admin.users.list', input)
  return [
    users('no filter', () => ({})),
    users('page 5,000', () => ({ page: 5000, pageSize: 20 })),
    users('by quota', () => ({ sort: 'quota' })),
    users('by what was used', () => ({ sort: 'used' })),
    users('a part of a name', (given) => ({ keyword: `r${any(given, 99_999)}` })),
    users('a part of an address', (given) => ({ keyword: `mail${any(given, 97)}.test` })),
    users('a part that nobody has', (given) => ({ keyword: `nothing${any(given, 1000)}` })),
    users('a group', (given) => ({ group: groupName(any(given, groupCount)) })),
    users('the banned', () => ({ status: 'banned' })),
    asRoot('users: one', 'admin.users.overview', (given) => ({ id: firstId + any(given, given.size.users) })),
    asUser('tokens: no filter', 'user.tokens.list', () => ({})),
    asUser('tokens: by what was spent', 'user.tokens.list', () => ({ sort: 'spend' })),
    asUser('tokens: a part of a name', 'user.tokens.search', (given) => ({ keyword: `many-${any(given, 100)}` })),
    asUser('wallet', 'user.wallet.get'),
    asUser('account', 'user.account.get'),
  ]
}

function lists(): Question[] {
  const channels = (what: string, input: (given: Given) => Record<string, unknown>): Question =>
    asRoot(`channels: ${what}`, 'admin.channels.list', input)
  const redemptions = (what: string, input: (given: Given) => Record<string, unknown>): Question =>
    asRoot(`redemptions: ${what}`, 'admin.redemptions.list', input)
  return [
    channels('no filter', () => ({})),
    channels('page 400', () => ({ page: 400, pageSize: 20 })),
    channels('a part of a name', (given) => ({ keyword: `${any(given, 1000)}` })),
    channels('a model', (given) => ({ model: modelName(any(given, 100)) })),
    channels('a group', (given) => ({ group: groupName(any(given, groupCount)) })),
    channels('the disabled', () => ({ statuses: [2] })),
    channels('by tags', () => ({ tagMode: true })),
    channels('a hundred', () => ({ pageSize: 100 })),
    asRoot('channels: all that match', 'admin.channels.matching', () => ({ model: modelName(3) })),
    asRoot('channels: their tags', 'admin.channels.tags.list', () => ({})),
    asRoot('channels: models that are enabled', 'admin.channels.modelsEnabled'),
    asRoot('prices', 'admin.prices.list'),
    asRoot('models without a price', 'admin.models.unset'),
    asUser('models of a user', 'user.models.list'),
    redemptions('no filter', () => ({})),
    redemptions('beginning of a name', (given) => ({ keyword: `batch-${any(given, 100)}` })),
    redemptions('used up, gifts', () => ({ status: 3, kind: 'gift' })),
    asRoot('orders: no filter', 'admin.orders.list', () => ({})),
    asRoot('orders: a number', 'admin.orders.list', (given) => ({ keyword: `order-${any(given, 100_000)}` })),
    asRoot('orders: a user', 'admin.orders.list', (given) => ({ keyword: userName(any(given, 5000)) })),
    asRoot('orders: paid in a week', 'admin.orders.list', (given) => ({ status: 'paid', ...range(given, 7 * dayMs) })),
    asRoot('audit log: no filter', 'admin.audit.list', () => ({})),
    asRoot('audit log: an action', 'admin.audit.list', () => ({ action: 'users.update' })),
    asRoot('audit log: keyword', 'admin.audit.list', (given) => ({ keyword: `user${any(given, 99_999)}` })),
    asRoot('drawings: no filter', 'admin.tasks.drawings', () => ({})),
    asRoot('drawings: a number', 'admin.tasks.drawings', (given) => ({ mjId: `mj-${any(given, 100_000)}` })),
    asRoot('drawings: a user', 'admin.tasks.drawings', (given) => ({ username: userName(any(given, 5000)) })),
    asRoot('music: no filter', 'admin.tasks.musicTasks', () => ({})),
    asRoot('messages: no filter', 'admin.messages.list', () => ({})),
    asRoot('messages: keyword', 'admin.messages.list', (given) => ({ keyword: `message ${any(given, 1000)}` })),
    asUser('own messages', 'user.messages.list', () => ({})),
    asUser('own unread messages', 'user.messages.unreadCount'),
  ]
}

function paths(): Question[] {
  return [
    documented('root', 'GET /api/log/, no filter', () => '/api/log/?p=1'),
    documented('root', 'GET /api/log/, one hour', (given) => `/api/log/?p=1&${times(anywhere(given, hourMs))}`),
    documented(
      'root',
      'GET /api/log/, a token name',
      (given) => `/api/log/?p=1&token_name=only-${7 + 500 * any(given, 100)}`,
    ),
    documented('root', 'GET /api/log/stat, a month', (given) => `/api/log/stat?${times(month(given))}`),
    documented('root', 'GET /api/log/search', (given) => `/api/log/search?keyword=nothing${any(given, 1000)}`),
    documented('user', 'GET /api/log/self', () => '/api/log/self?p=1'),
    documented('user', 'GET /api/log/self/stat, a month', (given) => `/api/log/self/stat?${times(month(given))}`),
    documented('root', 'GET /api/data/, a month', (given) => `/api/data/?${times(month(given))}`),
    documented(
      'root',
      'GET /api/data/, a user',
      (given) => `/api/data/?username=${userName(often(given, 100))}&${times(month(given))}`,
    ),
    documented('user', 'GET /api/data/self, a week', (given) => `/api/data/self?${times(range(given, 7 * dayMs))}`),
    documented('root', 'GET /api/user/', () => '/api/user/?p=1'),
    documented('root', 'GET /api/user/search', (given) => `/api/user/search?keyword=user${any(given, 99_999)}`),
    documented('root', 'GET /api/channel/', () => '/api/channel/?p=1&page_size=20'),
    documented(
      'root',
      'GET /api/channel/search',
      (given) => `/api/channel/search?keyword=channel-${any(given, 10_000)}`,
    ),
    documented('user', 'GET /api/token/', () => '/api/token/?p=1'),
    documented('root', 'GET /api/redemption/', () => '/api/redemption/?p=1'),
  ]
}
