import { createTRPCClient, httpBatchLink } from '@trpc/client'
import type { Pool } from 'pg'
import superjson from 'superjson'
import { expandOther } from '#core/log-other.ts'
import type { Upstream } from '#test/simulator/index.ts'
import type { AppRouter } from '#server/app-router.ts'
import { until } from '../support/processes.ts'
import { type Factories, randomKey, type TestToken, type TestUser } from '../support/factories.ts'

/** Where writes are made and calls are answered. */
export type World = {
  /** Writes go here. */
  url: string
  pool: Pool
  make: Factories
  upstream: Upstream
}

/** What a call shows of the state it was served by. */
export type Seen = {
  status: number
  key: string | undefined
  delay: unknown
  sent: unknown
  ratio: unknown
  groupRatio: unknown
  /** Percent of the calls that the newest channel gets; where it is asked for. */
  share: unknown
}

type Step = {
  what: string
  write: () => Promise<unknown>
  expected: Partial<Seen>
  /** Who calls; else the fixture's token. */
  token?: TestToken
}

let marked = 0

/** What the weights come to: which channel a single call goes to is left to chance. */
async function shareOfNewest(url: string, { token, model }: Asking): Promise<number> {
  const reply = await fetch(`${url}/v1/explain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${token.key}`, connection: 'close' },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] }),
  })
  const { candidates } = (await reply.json()) as { candidates: { channel_id: number; probability: number }[] }
  const newest = candidates.toSorted((left, right) => right.channel_id - left.channel_id)[0]
  return Math.round(100 * (newest?.probability ?? 0))
}

type Asking = { model: string; token: TestToken; asksForShare?: boolean }

/** One call, and what became of it upstream and in the log. */
export async function see(world: World, url: string, asking: Asking): Promise<Seen> {
  const { token, model } = asking
  marked += 1
  const marker = `marker-${marked}-${randomKey(6)}`
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    // A connection of its own, so that any of several processes may take it.
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${token.key}`, connection: 'close' },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: marker }] }),
  })
  await reply.text()
  const asked = world.upstream.requests.findLast(({ bytes }) => bytes.includes(marker))
  const { rows } = await world.pool.query<{ other: Record<string, unknown> }>(
    'select other from logs where request_id = $1 and type = 2',
    [reply.headers.get('x-request-id') ?? ''],
  )
  const row = rows[0] && expandOther(rows[0].other, model)
  return {
    status: reply.status,
    key: asked?.key,
    delay: asked?.directives.delay,
    sent: (asked?.body as { model?: unknown } | undefined)?.model,
    ratio: row?.['model_ratio'],
    groupRatio: row?.['group_ratio'],
    share: asking.asksForShare ? await shareOfNewest(url, asking) : undefined,
  }
}

export type Fixture = { model: string; root: TestUser; user: TestUser; token: TestToken; spare: TestToken }

export async function createFixture({ make }: World): Promise<Fixture> {
  const root = await make.user({ role: 100 })
  const user = await make.user({ quota: 1_000_000_000 })
  const [token, spare] = [await make.token(user), await make.token(user)]
  return { model: `model-${randomKey(8)}`, root, user, token, spare }
}

function callersOf({ url }: World) {
  const trpc = (user: TestUser) =>
    createTRPCClient<AppRouter>({
      links: [
        httpBatchLink({
          url: `${url}/trpc`,
          transformer: superjson,
          headers: { cookie: `session=${user.sessionId}`, 'x-user-id': String(user.id), origin: url },
        }),
      ],
    })
  // oxlint-disable-next-line max-params -- It reads like the request it makes.
  const rest = async (user: TestUser, method: string, path: string, body?: unknown) => {
    const reply = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        authorization: user.accessToken,
        'new-api-user': String(user.id),
        connection: 'close',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await reply.json()) as { success?: boolean; message?: string; data?: unknown }
    if (answer.success === false) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }
  return { trpc, rest }
}

/** Writes of every kind, by REST and tRPC, each with what the very next call has to show. */
function writesOfEveryKind(world: World, fixture: Fixture): Step[] {
  const { trpc, rest } = callersOf(world)
  const { model, root, user, token, spare } = fixture
  const admin = trpc(root).admin
  const address = world.upstream.url
  const ids: number[] = []
  const [first, second] = [() => ids[0] as number, () => ids[1] as number]
  const create = async (fields: { key: string; priority?: number }): Promise<void> => {
    const made = await admin.channels.create.mutate({
      name: 'made',
      type: 1,
      models: [model],
      baseUrl: address,
      ...fields,
    })
    ids.push(made.id)
  }
  const put = (id: () => number, fields: object) => () => rest(root, 'PUT', '/api/channel/', { id: id(), ...fields })
  const option = (key: string, value: unknown) => () =>
    rest(root, 'PUT', '/api/option/', { key, value: JSON.stringify(value) })
  const save = (key: string, value: unknown) => () =>
    admin.options.save.mutate({ changes: [{ key, value: value as string }] })
  const limit = (models: string[]) => () =>
    trpc(user).user.tokens.update.mutate({
      id: token.id,
      name: 'limited',
      unlimitedQuota: true,
      modelLimitsEnabled: models.length > 0,
      modelLimits: models,
    })
  const served = { status: 200, key: 'sk-second-key' }
  const made: TestToken = { id: 0, key: '', userId: user.id }
  const refused = { status: 503, key: undefined }

  return [
    {
      what: 'a new channel',
      write: () => create({ key: 'sk-first-key' }),
      expected: { status: 200, key: 'sk-first-key' },
    },
    { what: 'another key', write: put(first, { key: 'sk-second-key' }), expected: served },
    {
      what: 'another address',
      write: put(first, { base_url: world.upstream.withDirectives('delay=1'), key: 'sk-second-key' }),
      expected: { ...served, delay: '1' },
    },
    {
      what: 'the former address',
      write: () => admin.channels.update.mutate({ id: first(), baseUrl: address, key: 'sk-second-key' }),
      expected: { ...served, delay: undefined },
    },
    { what: 'switched off', write: put(first, { status: 2 }), expected: refused },
    {
      what: 'switched on',
      write: () => admin.channels.setStatus.mutate({ id: first(), status: 1 }),
      expected: served,
    },
    {
      what: 'a new channel of a higher priority',
      write: () => create({ key: 'sk-high', priority: 10 }),
      expected: { status: 200, key: 'sk-high' },
    },
    {
      what: 'a priority above it',
      write: () => admin.channels.setPriority.mutate({ id: first(), priority: 20 }),
      expected: served,
    },
    { what: 'a priority beside it', write: put(first, { priority: 10 }), expected: { status: 200 } },
    {
      what: 'nearly all of the weight',
      write: () => admin.channels.setWeight.mutate({ id: second(), weight: 1_000_000 }),
      expected: { status: 200, share: 100 },
    },
    { what: 'a channel removed', write: () => rest(root, 'DELETE', `/api/channel/${second()}`), expected: served },
    { what: 'other models', write: put(first, { models: 'quite-another' }), expected: refused },
    {
      what: 'the former models',
      write: () => admin.channels.update.mutate({ id: first(), models: [model, 'quite-another'] }),
      expected: served,
    },
    {
      what: 'a mapped name',
      write: put(first, { model_mapping: JSON.stringify({ [model]: 'the-real-one' }) }),
      expected: { ...served, sent: 'the-real-one' },
    },
    { what: 'no mapped name', write: put(first, { model_mapping: '' }), expected: { ...served, sent: model } },
    { what: 'another group', write: put(first, { group: 'vip' }), expected: refused },
    {
      what: 'a user of that group',
      write: () => admin.users.update.mutate({ id: user.id, group: 'vip' }),
      expected: served,
    },
    {
      what: 'a user of the former group',
      write: () => admin.users.update.mutate({ id: user.id, group: 'default' }),
      expected: refused,
    },
    { what: 'the former group', write: put(first, { group: 'default' }), expected: served },
    {
      what: 'a tag, which changes nothing',
      write: () => admin.channels.setTag.mutate({ ids: [first()], tag: model }),
      expected: served,
    },
    {
      what: 'a tag switched off',
      write: () => rest(root, 'POST', '/api/channel/tag/disabled', { tag: model }),
      expected: refused,
    },
    { what: 'a tag switched on', write: () => admin.channels.tags.enable.mutate({ tag: model }), expected: served },
    {
      what: 'the last key switched off',
      write: () => admin.channels.setKeyStatus.mutate({ id: first(), position: 0, status: 2 }),
      expected: refused,
    },
    {
      what: 'another key in its place',
      write: put(first, { key: 'sk-third-key', status: 1 }),
      expected: { status: 200, key: 'sk-third-key' },
    },
    { what: 'the former key', write: put(first, { key: 'sk-second-key' }), expected: served },
    { what: 'a price', write: option('ModelRatio', { [model]: 3 }), expected: { ...served, ratio: 3 } },
    { what: 'another price', write: save('ModelRatio', { [model]: 7 }), expected: { ...served, ratio: 7 } },
    {
      what: 'the price of a group',
      write: option('GroupRatio', { default: 2, vip: 1 }),
      expected: { ...served, groupRatio: 2 },
    },
    {
      what: 'another price of a group',
      write: save('GroupRatio', { default: 1, vip: 1 }),
      expected: { ...served, groupRatio: 1 },
    },
    {
      what: 'a virtual name',
      write: () =>
        admin.options.mapping.update.mutate({
          mapping: { [model]: [{ model: 'quite-another', priorities: 1, weight: 1 }] },
        }),
      expected: { status: 200, sent: 'quite-another' },
    },
    {
      what: 'no virtual name',
      write: () => admin.options.mapping.update.mutate({ mapping: {} }),
      expected: { ...served, sent: model },
    },
    {
      what: 'a token switched off',
      write: () => trpc(user).user.tokens.setStatus.mutate({ id: token.id, status: 2 }),
      expected: { status: 401 },
    },
    {
      what: 'a token switched on',
      write: () => trpc(user).user.tokens.setStatus.mutate({ id: token.id, status: 1 }),
      expected: served,
    },
    { what: 'a token of other models', write: limit(['quite-another']), expected: { status: 403 } },
    { what: 'a token of all models', write: limit([]), expected: served },
    {
      what: 'another name of a token',
      write: () => trpc(user).user.tokens.update.mutate({ id: spare.id, name: 'spare', unlimitedQuota: true }),
      expected: served,
      token: spare,
    },
    {
      what: 'a new token',
      write: async () => {
        const { id, key } = await trpc(user).user.tokens.create.mutate({ name: 'made', unlimitedQuota: true })
        Object.assign(made, { id, key: key.replace('sk-', '') })
      },
      expected: served,
      token: made,
    },
    {
      what: 'a token removed',
      write: () => rest(user, 'DELETE', `/api/token/${spare.id}`),
      expected: { status: 401 },
      token: spare,
    },
    {
      what: 'a user switched off',
      write: () => rest(root, 'POST', '/api/user/manage', { id: user.id, username: user.username, action: 'disable' }),
      expected: { status: 403 },
    },
    {
      what: 'a user switched on',
      write: () => admin.users.manage.mutate({ id: user.id, action: 'enable' }),
      expected: served,
    },
    {
      what: 'the last channel removed',
      write: () => rest(root, 'DELETE', `/api/channel/${first()}`),
      expected: refused,
    },
  ]
}

/**
 * Makes writes of every kind, one after the other; after each a call to every node at once. What a call shows of a former
 * state; where nodes may lag, which the product reported, they only have to catch up.
 */
export async function staleAfter(
  world: World,
  input: { nodes: string[]; writes: number; mayLag?: () => boolean },
): Promise<{ writes: number; kinds: Set<string>; stale: string[] }> {
  const stale: string[] = []
  const kinds = new Set<string>()
  let writes = 0
  while (writes < input.writes) {
    const fixture = await createFixture(world)
    for (const { what, write, expected, token = fixture.token } of writesOfEveryKind(world, fixture)) {
      await write()
      writes += 1
      kinds.add(what)
      const look = async (): Promise<string[]> => {
        const asking = { model: fixture.model, token, asksForShare: 'share' in expected }
        const seen = await Promise.all(input.nodes.map((url) => see(world, url, asking)))
        const shown = seen.map((all) =>
          JSON.stringify(Object.fromEntries(Object.keys(expected).map((key) => [key, all[key as keyof Seen]]))),
        )
        return shown.filter((text) => text !== JSON.stringify(expected))
      }
      const wrong = await look()
      if (wrong.length > 0 && input.mayLag?.())
        await until(async () => (await look()).length === 0, { what: `${what} is never seen` })
      else stale.push(...wrong.map((text) => `${what}: ${text}`))
    }
  }
  return { writes, kinds, stale }
}
