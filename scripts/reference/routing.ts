import { defaultOptions, type OptionKey } from '#core/options/registry/index.ts'
import { candidates, type Route, tiersOf, type Tried } from '#core/routing/candidates.ts'
import { sharesOf } from '#core/routing/pick-route.ts'
import { mayRetry } from '#core/routing/retry.ts'
import { createRetryBudget } from '#core/routing/retry-budget.ts'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { createCircuitBreaker } from '#relay/routing/circuit-breaker.ts'
import { type Blocks, code, table } from './markdown.ts'

const routeOf = (channelId: number, given: Partial<Route>): Route => ({
  channelId,
  priority: 0,
  weight: 0,
  keys: [0],
  ...given,
})

function shareRows(): string[][] {
  const routes = [0, 10, 90].map((weight, index) => routeOf(index, { weight }))
  const [usual, prefixed] = [sharesOf(routes), sharesOf(routes, { plainWeights: true })]
  const percent = (share: number | undefined): string => `${Math.round((share ?? 0) * 1000) / 10} %`
  return routes.map(({ weight }, index) => [String(weight), percent(usual[index]), percent(prefixed[index])])
}

/** Channels 1 and 2 of priority 9, 3 (two keys) of 5, 4 of 0: where five attempts of one call may go. */
function walk(forceSwitch: boolean): string[] {
  const tiers = tiersOf([
    routeOf(1, { priority: 9 }),
    routeOf(2, { priority: 9 }),
    routeOf(3, { priority: 5, keys: [0, 1] }),
    routeOf(4, {}),
  ])
  const tried = new Map<number, Set<number>>()
  return [0, 1, 2, 3, 4, 5].map((attempt) => {
    const found = candidates(tiers, { attempt, tried: tried as Tried, forceSwitch })
    if (!found) return 'ends'
    const names = found.routes.flatMap(({ channelId, keys }) =>
      channelId === 3 ? keys.map((key) => `3 (key ${key + 1})`) : [String(channelId)],
    )
    const [first] = found.routes
    if (first) tried.set(first.channelId, (tried.get(first.channelId) ?? new Set()).add(first.keys[0] ?? 0))
    return `${names.join(' or ')}${found.state === 'again' ? ', again' : ''}`
  })
}

function walkRows(): string[][] {
  const [once, again] = [walk(true), walk(false)]
  return once.map((place, index) => [String(index + 1), place, again[index] ?? ''])
}

const settings = defaultOptions()
const statuses = [307, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 524, 529]

function retryRows(): string[][] {
  const ask = (
    status: number,
    given: { channelType?: number; route?: 'text' | 'task' | 'drawing'; automatic?: boolean },
  ) =>
    mayRetry({
      status,
      local: false,
      channelType: given.channelType ?? 1,
      pinned: false,
      started: false,
      retriesLeft: 1,
      route: given.route,
      settings: { ...settings, 'global.auto_retry_enabled': given.automatic ?? false },
    })
      ? 'yes'
      : 'no'
  return statuses.map((status) => [
    String(status),
    ask(status, {}),
    ask(status, { channelType: 14 }),
    ask(status, { automatic: true }),
    ask(status, { route: 'task' }),
    ask(status, { route: 'drawing' }),
  ])
}

const place = { channelId: 1, key: 0, model: 'm' }

const failureOf = (status: number, details: { connection?: boolean; retryAfterMs?: number } = {}): AttemptFailed =>
  new AttemptFailed({ status, type: '', code: null, message: '' }, { local: false, ...details })

/** How long a key stays out after each of several failures, measured on a real circuit breaker. */
function breakerRows(): string[][] {
  const cooldownAfter = (errors: AttemptFailed[]): string => {
    let now = 0
    const breaker = createCircuitBreaker(() => now)
    return errors
      .map((error) => {
        breaker.failed(place, breaker.started(place), error)
        const until = breaker.coolingDown()[0]?.until.getTime() ?? now
        const seconds = (until - now) / 1000
        now = Math.max(now, until)
        return seconds === 0 ? '–' : `${seconds} s`
      })
      .join(', ')
  }
  return [
    ['five 500s in a row', cooldownAfter([500, 500, 500, 500, 500].map((status) => failureOf(status)))],
    ['connections that fail', cooldownAfter([1, 2, 3].map(() => failureOf(500, { connection: true })))],
    ['429 with `Retry-After: 60`', cooldownAfter([failureOf(429, { retryAfterMs: 60_000 })])],
    ['429 with `Retry-After: 3600`', cooldownAfter([failureOf(429, { retryAfterMs: 3_600_000 })])],
    ['400s, however many', cooldownAfter([400, 400, 400, 400].map((status) => failureOf(status)))],
  ]
}

/** What the budget lets through, found out by spending it. */
function budgetRows(): string[][] {
  let now = 0
  const takeAll = (budget: ReturnType<typeof createRetryBudget>): number => {
    let taken = 0
    while (budget.take()) taken += 1
    return taken
  }
  const budget = createRetryBudget(() => now)
  const saved = takeAll(budget)
  for (let call = 0; call < 100; call += 1) {
    budget.earn()
  }
  const capped = takeAll(budget)
  for (let call = 0; call < 50; call += 1) budget.earn()
  const ofFifty = takeAll(budget)
  now += 3000
  return [
    ['after an idle period', String(saved)],
    ['for 50 calls', String(ofFifty)],
    ['for 100 calls', String(capped)],
    ['in 3 s without a call', String(takeAll(budget))],
  ]
}

const named: OptionKey[] = [
  'RetryTimes',
  'global.auto_retry_enabled',
  'global.auto_retry_count',
  'global.auto_retry_status_codes',
  'global.auto_retry_force_channel_switch',
  'AutomaticDisableChannelEnabled',
  'AutomaticEnableChannelEnabled',
]

export const routingBlocks: Blocks = {
  shares: () => table(['weight', 'share', 'share with a model prefix'], shareRows()),
  walk: () => table(['attempt', 'tried keys excluded', 'tried keys allowed'], walkRows()),
  retries: () =>
    table(['status', 'usually', 'channel type 14', 'automatic retries on', 'music tasks', 'drawing'], retryRows()),
  breaker: () => table(['failures', 'cooldown after each'], breakerRows()),
  budget: () => table(['', 'retries'], budgetRows()),
  options: () =>
    table(
      ['option', 'default'],
      named.map((key) => [code(key), code(String(settings[key]))]),
    ),
}
