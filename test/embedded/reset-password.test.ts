import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { toUrl } from '#db/connection.ts'
import { startEmbedded } from '#db/embedded.ts'
import { User } from '#db/entities/user.ts'
import { connect, upgradeSchema } from '#db/orm.ts'
import { isPassword } from '#features/auth/password.ts'
import { startConsole, type Person } from '#test/support/console-app.ts'

const script = fileURLToPath(new URL('../../scripts/reset-password.ts', import.meta.url))

const app = await startConsole()
afterAll(() => app[Symbol.asyncDispose]())

/** What the command says and how it ends, as a process of its own. */
const run = (database: { DATABASE_URL?: string; DATA_DIR?: string }, ...args: string[]) =>
  new Promise<{ code: unknown; password: string | undefined; output: string }>((resolve) => {
    const { DATABASE_URL: _, ...env } = process.env
    execFile(process.execPath, [script, ...args], { env: { ...env, ...database } }, (error, out, err) => {
      const password = /The new password of \S+: (\S+)\n/.exec(out)?.[1]
      resolve({ code: error ? error.code : 0, password, output: out + err })
    })
  })
const onServer = (...args: string[]) => run({ DATABASE_URL: toUrl(app.connection) }, ...args)

async function locked(): Promise<Person> {
  const person = await app.person({ role: 100, accessTokenHash: randomBytes(16).toString('hex') })
  const key = person.username
  await app.sql(`insert into authenticators (user_id, secret_encrypted, confirmed_at) values ($1, '', now())`, [
    person.id,
  ])
  await app.sql(`insert into recovery_codes (user_id, code_hash) values ($1, $2)`, [person.id, key])
  await app.sql(
    `insert into passkeys (user_id, name, credential_id, public_key, site) values ($1, 'phone', $2, $2, 'localhost')`,
    [person.id, key],
  )
  return person
}

const factorsOf = async ({ id }: Person) => {
  const [row] = await app.sql(
    `select (select count(*) from authenticators where user_id = $1)::int as apps,
       (select count(*) from passkeys where user_id = $1)::int as passkeys,
       (select count(*) from recovery_codes where user_id = $1)::int as codes`,
    [id],
  )
  return row
}
const tokenOf = async ({ id }: Person) =>
  (await app.sql('select access_token_hash as hash from users where id = $1', [id]))[0]?.['hash']
const actsOn = ({ id }: Person) =>
  app.sql(
    `select actor_id, action, target_name, before, after, reason from audit_entries
     where target_type = 'user' and target_id = $1 order by id`,
    [String(id)],
  )
const reason = 'npm run reset-password'

test('gives an account a password that is printed once, and ends its sessions and its system access token', async () => {
  const person = await locked()
  const browser = await app.signedIn(person)
  const other = await locked()
  const otherBrowser = await app.signedIn(other)
  const { code, password, output } = await onServer(person.username)
  expect({ code, output }).toEqual({ code: 0, output: `\n  The new password of ${person.username}: ${password}\n\n` })
  expect(password).toMatch(/^\w{20}$/)

  expect((await browser.get('/api/user/self')).status).toBe(401)
  expect(await tokenOf(person)).toBeNull()
  const { username } = person
  const failed = await app.browser().login({ username, password: person.password })
  expect(failed.body).toMatchObject({ success: false })
  expect(await app.browser().login({ username, password: password ?? '' })).toMatchObject({ body: { success: true } })
  expect(await factorsOf(person)).toEqual({ apps: 1, passkeys: 1, codes: 1 })
  expect(await actsOn(person)).toEqual([
    { actor_id: 0, action: 'users.update', target_name: username, before: null, after: { password: true }, reason },
  ])

  expect((await otherBrowser.get('/api/user/self')).body).toMatchObject({ success: true })
  expect(await tokenOf(other)).not.toBeNull()
})

test('removes every second factor where that is asked for', async () => {
  const person = await locked()
  const other = await locked()
  const { code, password } = await onServer(person.username, '--second-factor')
  expect(code).toBe(0)
  const browser = app.browser()
  const { username } = person
  expect((await browser.login({ username, password: password ?? '' })).data).toMatchObject({ username })
  expect(await factorsOf(person)).toEqual({ apps: 0, passkeys: 0, codes: 0 })
  expect((await actsOn(person)).map(({ action, before }) => ({ action, before }))).toEqual([
    { action: 'users.update', before: null },
    { action: 'users.reset_second_factor', before: { authenticator: true, passkeys: 1, recoveryCodes: 1 } },
  ])
  expect(await factorsOf(other)).toEqual({ apps: 1, passkeys: 1, codes: 1 })
})

test('changes nothing for a name that nobody has, and says how root is named', async () => {
  const person = await locked()
  const { code, output } = await onServer('nobody at all')
  expect(code).toBe(1)
  expect(output).toMatch(/^\nNo account is named nobody at all\. Root's is named \S+\.\n$/)
  expect((await onServer()).output).toContain('npm run reset-password -- <username> [--second-factor]')
  expect(await actsOn(person)).toEqual([])
})

test('reaches the embedded database while it runs and while it does not, and makes none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reset-password-'))
  const dataDir = join(folder, 'data')
  try {
    expect(await run({ DATA_DIR: dataDir }, 'root')).toMatchObject({
      code: 1,
      output: expect.stringContaining(dataDir),
    })
    expect(existsSync(dataDir)).toBe(false)

    /** The password that the command gives inside, or else one given before. */
    const counts = async (reset: () => Promise<string | undefined>): Promise<boolean> => {
      const embedded = await startEmbedded({ dataDir, testing: true })
      const database = await connect(embedded.connection, 2)
      await upgradeSchema(database)
      const em = database.orm.em.fork()
      await em.upsert(User, { id: 1, username: 'root', displayName: 'root', role: 100 })
      const password = await reset()
      const { passwordHash } = await em.findOneOrFail(User, { id: 1 }, { disableIdentityMap: true })
      await database.close()
      await embedded.stop()
      return isPassword(passwordHash, password ?? '')
    }
    expect(await counts(async () => (await run({ DATA_DIR: dataDir }, 'root')).password)).toBe(true)
    const { password } = await run({ DATA_DIR: dataDir }, 'root')
    expect(await counts(async () => password)).toBe(true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
