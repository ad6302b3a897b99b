import { afterAll, expect, test } from 'vitest'
import { selectableChannelTypes } from '#core/channel-types/index.ts'
import { secretParts } from '#core/masking/secret-parts.ts'
import { optionKeys, optionOf } from '#core/options/registry/index.ts'
import { startApp } from '#test/support/app.ts'
import { recordProcessLog } from '#test/support/process-log.ts'
import { accessTable, refusalOf } from './access-table.ts'
import { type PlantedChannel, secrets } from './objects.ts'
import { columnsOfSecrets, longWords, plantHashes, storedSecrets, suspiciousColumns } from './secret-columns.ts'
import { createWalkers, inParallel, mayChange, type Step, steps } from './walk.ts'
import { isTaken } from '#test/support/long.ts'

/** A key of each form that keys have; a part that says where to call is no secret. */
const keyOfFormat: Readonly<Record<string, string>> = {
  single: 'sk-PlantedSingleKey81QmPv93',
  pipe: 'PlantedAccessId81Qm|PlantedAccessSecret60Bn|PlantedThird93Lr',
  dot: 'PlantedDotId9c1b7d.PlantedDotSecretTy7uIo',
  dash: 'PlantedDash9QmPv93LrTw-64f1c0ffee12',
  'single-or-pipe': 'PlantedEither81QmPv|PlantedOther60Bnx7k',
  json: '{"access_token":"PlantedJsonToken81Qm","account_id":"PlantedAccount60Bn"}',
}

const proxyPassword = 'PlantedProxyPassword77'

const channels: Required<PlantedChannel>[] = Object.keys(keyOfFormat).flatMap((format) => {
  const row = selectableChannelTypes.find(({ keyFormat }) => keyFormat === format)
  const key = keyOfFormat[format]
  const setting = JSON.stringify({ proxy: `http://gateway:${proxyPassword}@127.0.0.1:9` })
  return row && key ? [{ type: row.type, key, setting }] : []
})

/** What is planted beside the channels: where it stands, and the text that nobody may read. */
const ofOptions = optionKeys
  .filter((key) => optionOf(key).visibility === 'secret')
  .map((key) => ({ key, text: `Planted-${key.replace('.', '-')}-5xQ9` }))
const ofUsers = {
  password: '$argon2id$PlantedPasswordHash',
  webhook: 'PlantedWebhookSecret31',
  totp: 'PLANTEDTOTPSECRET234567',
  reply: 'PlantedReplyToARepeatedCall46',
}

const planted = [
  ...channels.flatMap(({ type, key }) => [key, ...secretParts(type, key)]),
  ...ofOptions.map(({ text }) => text),
  ...Object.values(ofUsers),
  proxyPassword,
]

/** Every form in which a careless reply would have it. */
const forms = new Set(
  planted.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    Buffer.from(text).toString('base64').replaceAll('=', ''),
  ]),
)

const ofChannels = [...channels.flatMap(({ type, key }) => [key, ...secretParts(type, key)]), proxyPassword]

/** Replies that show a secret on purpose, to whom, and which. */
const shownTo: Record<string, { actor: string; texts: readonly string[] }> = {
  // Whoever may read the keys of channels reads the settings that stand beside them.
  'admin.channels.get': { actor: 'root', texts: ofChannels },
  'GET /api/channel/:id': { actor: 'root', texts: ofChannels },
  // The documented settings of an account have its own webhook's secret, which clients post back with their form.
  'GET /api/user/self': { actor: 'any', texts: [ofUsers.webhook] },
  'user.account.get': { actor: 'any', texts: [ofUsers.webhook] },
}

/** Every long word of a reply, with the routes that replied it. */
const replied = new Map<string, Set<string>>()

const app = await startApp({ environment: { TRUST_PROXY: '1' } })
afterAll(() => app[Symbol.asyncDispose]())
const processLog = recordProcessLog(app)
await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
for (const { key, text } of ofOptions) await app.make.option(key, secrets.encrypt(text))
const setting = {
  notify_type: 'webhook',
  quota_warning_threshold: 5,
  webhook_url: 'https://hooks.example/x',
  webhook_secret: secrets.encrypt(ofUsers.webhook),
  accept_unset_model_ratio_model: false,
  show_ip_in_logs: false,
}
// Everybody who is made from now on has them.
await app.pool.query(`
  create function plant() returns trigger language plpgsql as $$ begin
    new.password_hash := '${ofUsers.password}'; new.setting := '${JSON.stringify(setting)}'; return new; end $$;
  create function plant_totp() returns trigger language plpgsql as $$ begin
    insert into authenticators (user_id, secret_encrypted) values (new.id, '${secrets.encrypt(ofUsers.totp)}'); return null; end $$;
  create trigger plant before insert on users for each row execute function plant();
  create trigger plant_totp after insert on users for each row execute function plant_totp();`)
await plantHashes(app, secrets.encrypt(ofUsers.reply))
await app.services.options.reload()
const walkers = await createWalkers(app, channels)

test('every column whose name speaks of a secret is known for what it holds', async () => {
  expect((await suspiciousColumns(app)).toSorted()).toEqual(Object.keys(columnsOfSecrets).toSorted())
})

test('what is planted is really there, and would be found', async () => {
  for (const { key, text } of ofOptions) expect(app.services.options.get(key)).toBe(text)
  const step = { surface: 'rest', route: 'GET /api/channel/:id', method: 'GET', path: '', whose: 'own' } as const
  const shown: string[] = []
  for (const _ of channels) shown.push((await walkers.take({ ...step, actor: 'root' })).text)
  for (const { key } of channels) expect(shown.join()).toContain(JSON.stringify(key).slice(1, -1))
})

test('a dump of the database has no key, password or code of these in it that could be used', async () => {
  const user = await app.make.user()
  const token = await app.make.token(user)
  const { rows: tables } = await app.pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  )
  const usable = [...planted.filter((text) => text !== ofUsers.password), token.key]
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await app.pool.query(`select 1 from "${name}" t where t::text like any ($1) limit 1`, [
      usable.map((text) => `%${text}%`),
    ])
    if (rows.length > 0) found.push(name)
  }
  expect(found).toEqual([])
})

/** Looks for planted secrets in the reply of each step, and notes what is shown to whom it is not meant for. */
function lookAt(): { look: (step: Step) => Promise<void>; shown: string[] } {
  const shown: string[] = []
  const look = async (step: Step) => {
    const { text } = await walkers.take(step)
    for (const word of longWords(text)) replied.set(word, (replied.get(word) ?? new Set()).add(step.route))
    const meant = shownTo[step.route]
    const isMeant = meant?.actor === 'any' || meant?.actor === step.actor
    const found = [...forms].filter((form) => text.includes(form))
    const left = isMeant
      ? found.filter((form) => !meant?.texts.some((secret) => JSON.stringify(secret).includes(form)))
      : found
    if (left.length > 0) shown.push(`${step.route} shows ${step.actor} ${left.join()}: ${text.slice(0, 300)}`)
  }
  return { look, shown }
}

/**
 * Who may not call a route at all is refused before anything is read; that this is so, of each of them, is shown by
 * access.test.ts.
 */
const answered = (): Step[] =>
  steps().filter(({ surface, route, actor }) => {
    const row = accessTable[surface][route]
    return row === undefined || refusalOf(row, actor) === undefined
  })

/** Root is shown the most. What others may call as well is called by each of them in the long form, here by one. */
const looked = (): Step[] => {
  const others = answered().filter(({ actor }) => actor !== 'root')
  const byRoute = Map.groupBy(others, ({ surface, route }) => `${surface} ${route}`)
  const chosen = [...byRoute.values()].flatMap((steps, place) =>
    steps.filter((_, at) => isTaken(steps.length, place, at)),
  )
  return [...answered().filter(({ actor }) => actor === 'root'), ...chosen]
}

test('no reply of a route that reads shows anybody a planted secret, but for those that are there for it', async () => {
  const { look, shown } = lookAt()
  await inParallel(
    looked().filter((step) => !mayChange(step)),
    look,
  )
  expect(shown).toEqual([])
})

test.each(['procedures', 'rest'] as const)(
  'no reply of a route of %s that may change something shows anybody a planted secret, but for those that are there for it',
  async (surface) => {
    const { look, shown } = lookAt()
    for (const step of looked().filter(mayChange)) if (step.surface === surface) await look(step)
    expect(shown).toEqual([])
  },
)

/** Routes that hand a key to whoever it belongs to, or a code to whoever hands it out. */
const handsOver: Readonly<Record<string, RegExp>> = {
  'authenticators.secret_encrypted': /^(user\.secondFactor\.setUpAuthenticator|POST \/api\/user\/2fa\/setup)$/,
  // Root alone, as shown above.
  'channels.key_encrypted': /^(admin\.channels\.get|GET \/api\/channel\/:id)$/,
  'channels.proxy_encrypted': /^(admin\.channels\.get|GET \/api\/channel\/:id)$/,
  'redemptions.key_encrypted':
    /^(admin\.redemptions\.(create|update|get|list|setStatus|export)|(GET|POST|PUT) \/api\/redemption\/.*)$/,
  'tokens.key_encrypted': /^(user\.tokens\.(create|createMany|reveal|rotate)|(GET|PUT) \/api\/token\/.*)$/,
}

test('what stands in a column of secrets leaves by no route but those that hand a key to its owner', async () => {
  const stored = await storedSecrets(app)
  const leaks = [...stored].flatMap(([text, place]) =>
    [...(replied.get(text) ?? [])]
      .filter((route) => !handsOver[place]?.test(route))
      .map((route) => `${route}: ${place}`),
  )
  expect([...new Set(leaks)]).toEqual([])
  // And in each of them there was something that could have been seen.
  const places = Object.entries(columnsOfSecrets).filter(([, kind]) => kind === 'secret' || kind === 'readable')
  const empty = places.map(([place]) => place).filter((place) => ![...stored.values()].includes(place))
  expect(empty).toEqual([])
})

test('no line of the log has a planted secret, or what stands in a column of secrets', async () => {
  const stored = await storedSecrets(app)
  const lines = processLog.filter(
    (line) => [...forms].some((form) => line.includes(form)) || longWords(line).some((word) => stored.has(word)),
  )
  expect(lines.map((line) => line.slice(0, 500))).toEqual([])
})
