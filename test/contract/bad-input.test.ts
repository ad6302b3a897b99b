import superjson from 'superjson'
import { afterAll, expect, test } from 'vitest'
import { openHolds } from '#test/relay/caller-dialects.ts'
import { startApp } from '#test/support/app.ts'
import { isTaken, long as isLong } from '#test/support/long.ts'
import type { TestUser } from '#test/support/factories.ts'
import { routesOf } from './access-table.ts'
import { badInputs, badValuesAt } from './bad-values.ts'
import { callProcedure, callRelay, callRest, signedIn } from './callers.ts'
import { objectsOf } from './objects.ts'
import { procedureCalls } from './procedure-calls.ts'
import { relayCalls } from './relay-calls.ts'
import { restCalls, type RestSending } from './rest-calls.ts'
import { restRows } from './rest-names.ts'
import { procedureInputs } from './samples.ts'
import { createWalkers, inParallel } from './walk.ts'
import { recordWrites } from './writes.ts'

const app = await startApp({ environment: { TRUST_PROXY: '1' } })
afterAll(() => app[Symbol.asyncDispose]())
await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
const walkers = await createWalkers(app)
const writes = await recordWrites(app)

const nestedText = `${'['.repeat(20_000)}${']'.repeat(20_000)}`

/** Whether a refusal has the form that its path promises. */
function hasForm(path: string, status: number, text: string): boolean {
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
  const error = body['error'] as Record<string, unknown> | undefined
  if (path.startsWith('/mj')) return typeof body['description'] === 'string' || typeof body['error'] === 'string'
  if (path.startsWith('/suno')) return typeof body['code'] === 'string' && 'data' in body
  if (typeof error?.['message'] !== 'string') return false
  if (path.startsWith('/v1/messages')) return body['type'] === 'error'
  const isGoogle = /^\/v1beta\/(?!openai)|^\/v1\/interactions|:\w+$/.test(path)
  return isGoogle ? error['code'] === status && typeof error['status'] === 'string' : 'type' in error
}

// First, before what is sent to the console leaves channels that lead nowhere.
test('paths of the relay refuse what does not fit in the caller’s form, break at nothing and charge nothing', async () => {
  const wrong: string[] = []
  const holder = walkers.people.user
  const key = holder?.token.key ?? ''
  const routes = routesOf
    .relay()
    .filter((route) => route.startsWith('POST') && !route.includes('*rest') && !route.includes('/pg/'))
  await inParallel(routes, async (route) => {
    const { id = 'x', body: valid } = (await relayCalls[route]?.(objectsOf(app, holder?.user.id ?? 0))) ?? {}
    const path = route
      .replace('POST ', '')
      .replace('/:mode/', '/mj-fast/')
      .replace(/[:*](id|model|action)/, encodeURIComponent(id))
    const fields = valid instanceof FormData ? [] : Object.keys(Object(valid))
    const bodies: unknown[] = [
      '',
      'null',
      '12',
      '"text"',
      '[]',
      '{"half":',
      nestedText,
      '\u0000',
      ...fields.flatMap((name, place) => badValuesAt(place).map((value) => ({ ...Object(valid), [name]: value }))),
    ]
    for (const body of bodies) {
      const headers = { authorization: `Bearer sk-${key}` }
      const { status, outcome, text } = await callRelay(app, { method: 'POST', path, body, headers })
      const shown = `${route}: ${status} ${outcome} ${text.slice(0, 200)} of ${JSON.stringify(body).slice(0, 200)}`
      const isBroken = status === 500 ? !documented500.has(outcome) : outcome === 'internal'
      if (isBroken || (status >= 400 && !hasForm(path, status, text))) wrong.push(shown)
    }
  })
  expect(wrong).toEqual([])
  await expect.poll(() => openHolds(app)).toBe(0)
  expect(await app.violations()).toEqual([])
})

// Callers may send bodies of tens of megabytes, and fields that nobody knows.
test('bodies of ten megabytes break no path of the relay', async () => {
  const wrong: string[] = []
  const large = JSON.stringify({ text: 'x'.repeat(10 * 1024 * 1024) })
  const relayed = routesOf.relay().filter((route) => route.startsWith('POST') && !route.includes('/pg/'))
  const key = walkers.people.user?.token.key ?? ''
  await inParallel(isLong ? relayed : relayed.slice(0, 4), async (route) => {
    const path = route
      .replace('POST ', '')
      .replace('/:mode/', '/mj-fast/')
      .replace(/[:*](\w+)/g, 'x')
    const headers = { authorization: `Bearer sk-${key}` }
    const { status, outcome } = await callRelay(app, { method: 'POST', path, body: large, headers })
    if (status === 500 || outcome === 'internal') wrong.push(`${route}: ${status} ${outcome}`)
  })
  expect(wrong).toEqual([])
  await expect.poll(() => openHolds(app)).toBe(0)
  expect(await app.violations()).toEqual([])
})

/** What 500 stands for by the documents: a price that nobody set. */
const documented500 = new Set(['relay.price_missing', 'relay.price_missing_hint'])

const procedures = procedureInputs()
/** The most that one request may ask for. */
const mostOfBatch = 50

type Answer = { error?: { json: { data: { httpStatus: number; domainCode: string } } } }

/** Asks one procedure for many things at once. A null where it was done, else why not. */
async function askForAll(
  user: TestUser,
  { path, type, inputs }: { path: string; type: 'query' | 'mutation'; inputs: unknown[] },
): Promise<({ status: number; code: string } | null)[]> {
  const written = JSON.stringify(Object.fromEntries(inputs.map((input, index) => [index, { json: input }])))
  const isShort = type === 'query'
  const names = Array.from(inputs, () => path).join()
  const query = isShort ? `&input=${encodeURIComponent(written)}` : ''
  const reply = await fetch(`${app.url}/trpc/${names}?batch=1${query}`, {
    method: isShort ? 'GET' : 'POST',
    headers: { ...signedIn(app, user), 'content-type': 'application/json' },
    ...(isShort ? {} : { body: written }),
  })
  const answers = (await reply.json()) as Answer[]
  return answers.map(({ error }) =>
    error ? { status: error.json.data.httpStatus, code: error.json.data.domainCode } : null,
  )
}

/** Queries travel in addresses, which are not made for hundreds of thousands of characters. */
const mayTravel = (type: 'query' | 'mutation') => (input: unknown) =>
  type === 'mutation' || JSON.stringify(superjson.serialize(input)).length < 4000

const chunks = <Item>(items: Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

test('procedures refuse what does not fit by name, break at nothing and change nothing', async () => {
  const wrong: string[] = []
  let refusals = 0
  // What was leased for the calls before would be given back in the middle of it.
  app.services.ledger.returnLeases('all')
  await app.services.ledger.leasesReturned()
  for (const { path, type, schema } of procedures) {
    const root = await app.make.user({ role: 100 })
    const valid = await procedureCalls[path]?.(objectsOf(app, root.id))
    const all = schema ? [...badInputs(schema, valid)].filter(mayTravel(type)) : []
    await writes.take()
    for (const inputs of chunks(all, type === 'query' ? 10 : mostOfBatch)) {
      const answers = await askForAll(root, { path, type, inputs })
      refusals += answers.filter((answer) => answer !== null).length
      for (const [index, answer] of answers.entries()) {
        const isBroken = answer && (answer.status === 500 || answer.code === 'internal' || !answer.code)
        if (isBroken) wrong.push(`${path}: ${JSON.stringify(answer)} of ${JSON.stringify(inputs[index]).slice(0, 200)}`)
      }
      const written = await writes.take()
      if (written.length === 0 || answers.every((answer) => answer === null)) continue
      // Something was done besides: what was refused is asked again, alone.
      const refused = inputs.filter((_, index) => answers[index] !== null)
      const again = await askForAll(root, { path, type, inputs: refused })
      const left = await writes.take()
      if (left.length > 0 && again.every((answer) => answer !== null)) wrong.push(`${path} writes: ${left.join()}`)
    }
  }
  expect(wrong).toEqual([])
  expect(refusals).toBeGreaterThan(isLong ? 2000 : 1200)
})

test('documented paths refuse what does not fit in their envelope, break at nothing and change nothing', async () => {
  const wrong: string[] = []
  const done = new Set<string>()
  let refusals = 0
  // What takes nothing has nothing to refuse.
  const rows = restRows().filter(({ key, query, body }) => key.includes(':id') || query.length + body.length > 0)
  for (const { key, query, body } of rows) {
    const root = await app.make.user({ role: 100 })
    const { id, ...valid } = (await restCalls[key]?.(objectsOf(app, root.id))) ?? {}
    const isGet = key.startsWith('GET')
    const allOf = (names: string[], bad: unknown) => Object.fromEntries(names.map((name) => [name, bad]))
    const asText = (value: unknown) => (typeof value === 'string' ? value.slice(0, 4000) : JSON.stringify(value))
    const everywhere = badValuesAt(key.length).map((value) => ({
      ...valid,
      id: key.includes(':id') ? asText(value).toWellFormed().slice(0, 500) || 'x' : id,
      query: allOf(query, asText(value)) as Record<string, string>,
      ...(isGet ? {} : { body: allOf(body, value) }),
    }))
    const alone = isGet
      ? []
      : body.flatMap((name, place) =>
          badValuesAt(place).map((value) => ({ ...valid, id, body: { ...Object(valid.body), [name]: value } })),
        )
    const sendings: RestSending[] = [...everywhere, ...alone]
    const refused: RestSending[] = []
    await inParallel(sendings, async (sending) => {
      const { status, outcome, text } = await callRest(app, root, { key, ...sending })
      const isBroken = status === 500 ? !key.endsWith('/fetch_models') : outcome === 'internal'
      if (isBroken) wrong.push(`${key}: ${status} ${text.slice(0, 200)} of ${JSON.stringify(sending).slice(0, 300)}`)
      if (/"success":false|"message":"error"/.test(text)) refused.push(sending)
    })
    refusals += refused.length
    const written = await writes.take()
    if (written.length === 0 || mayWriteWhenRefused.test(key)) continue
    // Something was done besides: what was refused is asked again, alone.
    await inParallel(refused, async (sending) => {
      const { outcome } = await callRest(app, root, { key, ...sending })
      if (outcome === 'ok') done.add(key)
    })
    const left = await writes.take()
    if (left.length > 0 && !done.has(key)) wrong.push(`${key} writes: ${left.join()}`)
  }
  expect(wrong).toEqual([])
  expect(refusals).toBeGreaterThan(isLong ? 300 : 150)
})

/** A test of a channel writes down what came of it; wrong codes are counted. */
const mayWriteWhenRefused = /^GET \/api\/channel\/(test|update_balance)|2fa|verify|bind$|login|reset/

test('bodies that are none, too deep or of ten megabytes are refused by every procedure and path', async () => {
  const root = await app.make.user({ role: 100 })
  const wrong: string[] = []
  const large = JSON.stringify({ json: { text: 'x'.repeat(10 * 1024 * 1024) } })
  // A run that a call before began would write in the middle of it.
  await app.services.jobs.stop()
  await writes.take()
  const mutations = procedures.filter(({ type, schema }) => type === 'mutation' && schema)
  await inParallel([...mutations.entries()], async ([place, { path, type }]) => {
    for (const body of ['{"half":', nestedText, '', ...(isTaken(40, place) ? [large] : [])]) {
      const { status, outcome } = await callProcedure(app, root, { path, type, body })
      if (status < 400 || status === 500 || outcome === 'internal') wrong.push(`${path}: ${status} ${outcome}`)
    }
  })
  const paths = restRows().filter(({ key, body }) => !key.startsWith('GET') && body.length > 0)
  await inParallel([...paths.entries()], async ([place, { key }]) => {
    for (const body of ['{"half":', nestedText, ...(isTaken(20, place) ? [large] : [])]) {
      const { status, outcome } = await callRest(app, root, { key, body })
      if (status === 500 || outcome === 'ok' || outcome === 'internal') wrong.push(`${key}: ${status} ${outcome}`)
    }
  })
  expect(wrong).toEqual([])
  expect(await writes.take()).toEqual([])
})
