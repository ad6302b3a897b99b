import { expect, test } from 'vitest'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { type Person, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const root = await app.person({ role: 100 })
// Stands for whatever the database may have against one row.
await app.sql(`
  create function refuse_row() returns trigger language plpgsql as $$
  begin
    if new.model_name = 'refused-model' then raise exception 'this row is refused'; end if;
    return new;
  end $$;
  create trigger refuse_row before insert on logs for each row execute function refuse_row();`)

/** A charge of 150 that waits for a decision, of a person who had 1000. */
async function failedCharge(id: string, modelName = 'a-model'): Promise<Person> {
  const person = await app.person({ quota: 1000 })
  const row: ChargeRow = {
    id,
    userId: person.id,
    tokenId: 0,
    channelId: 0,
    quota: 150,
    counted: true,
    log: true,
    content: 'the price of it',
    username: person.username,
    tokenName: 'mine',
    modelName,
    promptTokens: 10,
    completionTokens: 20,
    cachedTokens: 0,
    useTimeMs: 30,
    firstTokenMs: null,
    isStream: false,
    group: 'default',
    clientIp: '192.0.2.1',
    other: {},
  }
  await app.sql('select ledger_set_aside($1, $2, 0, 0, 150, $3, $4)', [
    id,
    person.id,
    JSON.stringify(row),
    'this row is refused',
  ])
  return person
}

const accountOf = async ({ id }: Person) =>
  (
    await app.sql('select quota::int, used_quota::int as used, request_count::int as calls from users where id = $1', [
      id,
    ])
  )[0]
const logsOf = (id: string) =>
  app.sql('select model_name, quota::int, prompt_tokens, content from logs where request_id = $1', [id])
const audited = (id: string) =>
  app.sql('select actor_id, action, before, after from audit_entries where target_id = $1 order by id', [id])
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'booked',
    (error: { cause?: { code?: string }; message: string }) => error.cause?.code ?? error.message,
  )

test('a charge that waits is listed for root alone, with what it holds and the whole of what was to be booked', async () => {
  const person = await failedCharge('listed')
  const { admin } = await app.trpc(root)
  const { items, total } = await admin.failedCharges.list()
  expect(total).toBe(items.length)
  expect(items.find(({ id }) => id === 'listed')).toMatchObject({
    userId: person.id,
    username: person.username,
    quota: 150,
    held: 150,
    error: 'this row is refused',
  })
  const { charge } = await admin.failedCharges.get({ id: 'listed' })
  expect(JSON.parse(charge)).toMatchObject({ promptTokens: 10, modelName: 'a-model' })
  expect(await accountOf(person)).toEqual({ quota: 850, used: 0, calls: 0 })

  const administrator = (await app.trpc(await app.person({ role: 10 }))).admin.failedCharges
  for (const act of [administrator.list(), administrator.get({ id: 'listed' }), administrator.book({ id: 'listed' })])
    expect(await codeOf(act)).toBe('session.role_insufficient')
})

test('booked again it is a charge like any other, once, whoever presses the button how often, and stands in the audit log', async () => {
  const person = await failedCharge('again')
  const api = (await app.trpc(root)).admin.failedCharges
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => codeOf(api.book({ id: 'again' }))))
  expect(outcomes.toSorted()).toEqual(['booked', ...Array<string>(19).fill('failed_charge.not_found')])
  expect(await accountOf(person)).toEqual({ quota: 850, used: 150, calls: 1 })
  expect(await logsOf('again')).toEqual([
    { model_name: 'a-model', quota: 150, prompt_tokens: 10, content: 'the price of it' },
  ])
  expect(await audited('again')).toEqual([
    {
      actor_id: root.id,
      action: 'failed_charges.book',
      before: { userId: person.id, quota: 150 },
      after: { quota: 150 },
    },
  ])
})

test('what the database still refuses stays as it is, and root reads why', async () => {
  const person = await failedCharge('stubborn', 'refused-model')
  const api = (await app.trpc(root)).admin.failedCharges
  await expect(api.book({ id: 'stubborn' })).rejects.toMatchObject({
    cause: { code: 'failed_charge.refused', params: { detail: 'this row is refused' } },
  })
  expect(await accountOf(person)).toEqual({ quota: 850, used: 0, calls: 0 })
  expect(await audited('stubborn')).toEqual([])
  await api.book({ id: 'stubborn', quota: 100 })
  expect(await accountOf(person)).toEqual({ quota: 900, used: 100, calls: 1 })
})

test('given back, all that it held is the balance again and nothing was used', async () => {
  const person = await failedCharge('returned')
  const api = (await app.trpc(root)).admin.failedCharges
  await api.book({ id: 'returned', quota: 0 })
  expect(await accountOf(person)).toEqual({ quota: 1000, used: 0, calls: 0 })
  expect(await audited('returned')).toMatchObject([{ action: 'failed_charges.give_back', after: { quota: 0 } }])
  expect(await codeOf(api.get({ id: 'returned' }))).toBe('failed_charge.not_found')
})
