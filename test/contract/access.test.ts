import { afterAll, expect, test } from 'vitest'
import { errors, type ErrorCode } from '#core/errors.ts'
import { startApp } from '#test/support/app.ts'
import { accessTable, type Surface, expectedOf, refusalOf, routesOf } from './access-table.ts'
import { callRest } from './callers.ts'
import { departures } from './reply-schema.ts'
import { createWalkers, inParallel, mayChange, type Step, steps } from './walk.ts'

// Of one connection: whoever held it and wanted a second one would wait for itself, as many at once would for one another.
const app = await startApp({ environment: { TRUST_PROXY: '1' }, consoleConnections: 1 })
afterAll(() => app[Symbol.asyncDispose]())
await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
const walkers = await createWalkers(app)

const surfaces: Surface[] = ['relay', 'procedures', 'rest']

test.each(surfaces)(
  'every route of %s has its row in the table of access, and no row is without its route',
  (surface) => {
    expect(Object.keys(accessTable[surface]).toSorted(), `test/contract/access.json under "${surface}"`).toEqual(
      routesOf[surface]().toSorted(),
    )
  },
)

test('what belongs to somebody else is not found by its number', () => {
  const found = surfaces.flatMap((surface) =>
    Object.entries(accessTable[surface]).flatMap(([route, row]) => {
      const outcome = expectedOf(row, 'user', 'foreign')
      const isOfUser = row.foreign !== undefined && (row.role === 'user' || row.role === 'token')
      return isOfUser && !/(not_found|_unknown|^empty)$/.test(outcome) ? [`${route}: ${outcome}`] : []
    }),
  )
  expect(found).toEqual([])
})

test('every documented path is served with and without its closing slash', async () => {
  const wrong: string[] = []
  const gets = Object.keys(accessTable.rest).filter((key) => key.startsWith('GET') && !key.includes('logout'))
  await inParallel(gets, async (key) => {
    const open = key.replace(/\/$/, '')
    const replies = [await callRest(app, null, { key: open }), await callRest(app, null, { key: `${open}/` })]
    const [without, withSlash] = replies.map(({ status, outcome }) => `${status} ${outcome}`)
    if (without !== withSlash || without?.startsWith('404')) wrong.push(`${key}: ${without}, ${withSlash}`)
  })
  expect(wrong).toEqual([])
})

/** The statuses that refusals of access have at each surface. */
function expectedStatus({ surface, route, actor }: Step): number | undefined {
  const row = accessTable[surface][route]
  const code = row && refusalOf(row, actor)
  if (code === undefined) return undefined
  const { kind, status } = errors[code as ErrorCode] as { kind: string; status?: number }
  const usual = kind === 'unauthenticated' ? 401 : 403
  if (surface === 'rest') return usual === 401 ? 401 : 200
  return status ?? usual
}

test.each(surfaces)(
  '%s answers everybody as the table of access says, about their own and about what is not',
  async (surface) => {
    const wrong: string[] = []
    const check = async (step: Step) => {
      const row = accessTable[step.surface][step.route]
      if (!row) return
      const expected = expectedOf(row, step.actor, step.whose)
      const { outcome, status, text, isOwned } = await walkers.take(step)
      const name = `${step.route} ${step.actor} ${step.whose}`
      if (!expected.split(' or ').includes(outcome))
        wrong.push(`${name}: ${outcome} instead of ${expected}: ${text.slice(0, 200)}`)
      else if (status !== (expectedStatus(step) ?? status)) wrong.push(`${name}: ${outcome} with ${status}`)
      if (step.surface === 'rest' && outcome === 'ok' && text.startsWith('{'))
        wrong.push(...departures(step.route, text))
      if (isOwned && row.foreign === undefined)
        wrong.push(`${name}: is about somebody's things, so its row needs foreign`)
    }
    const all = steps().filter((step) => step.surface === surface)
    await inParallel(
      all.filter((step) => !mayChange(step)),
      check,
    )
    for (const step of all.filter(mayChange)) await check(step)
    expect(wrong).toEqual([])
  },
)
