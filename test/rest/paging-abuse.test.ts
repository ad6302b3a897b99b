import superjson from 'superjson'
import { afterAll, describe, expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { procedureRoutes, restRoutes } from '#scripts/route-list.ts'
import { startApp } from '#test/support/app.ts'
import { holdLock } from '#test/support/held-lock.ts'

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
const root = await app.make.user({ role: roles.root })
const rows = 1100
const sealed = app.services.secrets.encrypt('a key')
await app.pool.query(
  `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask)
   select $1, 'token ' || n, 'hash ' || n, $2, '' from generate_series(1, ${rows}) n`,
  [root.id, sealed],
)
await app.pool.query(
  `insert into users (username, display_name, role, "group", quota) select 'u' || n, 'u', 1, 'default', 0 from generate_series(1, ${rows}) n`,
)
await app.pool.query(
  `insert into channels (type, name, key_encrypted, models, tag) select 1, 'c' || n, $1, 'm', 't' || n from generate_series(1, ${rows}) n`,
  [sealed],
)
await app.pool.query(
  `insert into logs (user_id, username, type, created_at, content, model_name) select $1, 'root', 2, now() - n * interval '1 second', '', 'm' from generate_series(1, ${rows}) n`,
  [root.id],
)

/** The longest list of rows anywhere in an answer; names and options are no rows. */
function longestList(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) && typeof value[0] === 'object' ? value.length : 0
  return Math.max(own, ...Object.values(value).map(longestList))
}

const year = 365 * 86_400
const now = Math.floor(Date.now() / 1000)
const abuses = [
  'p=-1&page=-1&page_size=1000000000&size=1000000000&limit=1000000000',
  'p=1000000000000&page=1000000000000&offset=1000000000000&page_size=-5',
  'p=0&page_size=0&p=NaN&page_size=1e9',
  `start_timestamp=${now - 50 * year}&end_timestamp=${now + year}&page_size=1e9&p=1&default_time=hour`,
  'start_timestamp=-1&end_timestamp=99999999999999&p=1e308&page_size=1e308',
]

/** Starts work, ends the session or leaves the site; lists nothing. */
const acts =
  /\/(test|update_balance|logout|token|oauth|verification|reset_password|fetch_models|fix|callback|self\/data)(\/|$)/
/** Documented without pages: searches have a bound of their own, the rest is as long as the product's lists, or the site's. */
const searches = new Map([
  ['/api/channel/', 1000],
  ['admin.channels.list', 1000],
  ['/api/channel/search', 10_000],
  ['admin.channels.search', 10_000],
  ['admin.channels.matching', 10_000],
  ['/api/log/', 1000],
  ['/api/redemption/', 1000],
  ['/api/redemption/search', 1000],
  ['/api/token/search', 1000],
  ['user.tokens.search', 1000],
])
const unpaged = [
  '/api/channel/models',
  '/api/option/',
  'admin.channels.models',
  'admin.options.list',
  'admin.options.texts',
  'admin.prices.list',
]
const mostRowsOf = (route: string): number => searches.get(route) ?? (unpaged.includes(route) ? Infinity : 100)

describe('pages that nobody should ask for', () => {
  const lists = restRoutes().filter(({ kind, path }) => kind === 'GET' && !acts.test(path))

  test('are answered by every documented path with a page, or refused', async () => {
    expect(lists.length).toBeGreaterThan(30)
    const found: string[] = []
    for (const { path } of lists) {
      for (const query of abuses) {
        const address = `${path.replace(/[:*](\w+)/g, '1')}?${query}`
        const { status, json } = await app.rest(root, 'GET', address)
        const rows = longestList(json)
        if (status >= 500 || rows > mostRowsOf(path)) found.push(`${address}: ${status}, ${rows} rows`)
      }
    }
    expect(found).toEqual([])
  })

  test('are answered by every procedure with a page, or refused', async () => {
    const wide = { start: new Date(0), end: new Date((now + year) * 1000), interval: 'hour' }
    const pages = [
      { page: 1, pageSize: 1e9 },
      { page: -1, pageSize: 10 },
      { page: 1e12, pageSize: 100 },
      { page: 1_000_000, pageSize: 100 },
      { offset: 1e12, limit: 1e9, cursor: 'x'.repeat(10_000) },
    ]
    const found: string[] = []
    for (const { path } of procedureRoutes().filter(({ kind }) => kind === 'query')) {
      for (const page of pages) {
        const input = encodeURIComponent(superjson.stringify({ ...wide, ...page, keyword: '', id: 1 }))
        const reply = await fetch(`${app.url}/trpc/${path}?input=${input}`, {
          headers: { cookie: `session=${root.sessionId}`, 'x-user-id': String(root.id), origin: app.url },
        })
        const rows = longestList(await reply.json())
        if (reply.status >= 500 || rows > mostRowsOf(path))
          found.push(`${path} ${JSON.stringify(page)}: ${reply.status}, ${rows} rows`)
      }
    }
    expect(found).toEqual([])
  })

  test('wait no longer than some seconds for a table that grows without end', async () => {
    await using usual = await startApp({ refusesAsUsual: ['readMs'] })
    await using _ = await holdLock(usual.pool, 'lock table logs, usage_hourly in access exclusive mode')
    const { admin } = usual.trpc(await usual.make.user({ role: roles.root }))
    const wide = { start: new Date(Date.now() - year * 1000), end: new Date() }
    const answers = await Promise.allSettled([
      admin.logs.list.query({ page: 1, pageSize: 10 }),
      admin.stats.overview.query(wide),
    ])
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: { data: { code: 'SERVICE_UNAVAILABLE' } } })
  })
})
