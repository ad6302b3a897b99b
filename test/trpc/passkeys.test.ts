import { describe, expect, it } from 'vitest'
import { codeOf, type ConsoleApp, type Person, startFileConsole } from '#test/support/console-app.ts'
import { createSecurityKey, type SecurityKey } from '#test/support/security-key.ts'

const app = await startFileConsole()

type PersonFields = Parameters<ConsoleApp['person']>[0]
type Keyed = { person: Person; key: SecurityKey; api: Awaited<ReturnType<ConsoleApp['trpc']>>; id: number }

/** Somebody who keeps a passkey for this site. */
async function keyed(fields: PersonFields = {}): Promise<Keyed> {
  const person = await app.person(fields)
  const api = await app.trpc(person)
  const key = createSecurityKey()
  const asked = await api.user.secondFactor.passkeys.options()
  await api.user.secondFactor.passkeys.add({ name: 'laptop', response: key.register(asked) })
  const [passkey] = await api.user.secondFactor.passkeys.list()
  return { person, key, api, id: passkey?.id ?? 0 }
}

/** An anonymous browser, with the session it gets. */
const newPerson = async () => {
  const session: { idHash: string | null } = { idHash: null }
  return { session, api: await app.trpc(null, { session }) }
}

const signedInAs = async (session: { idHash: string | null }) =>
  Number((await app.sql('select user_id from sessions where id_hash = $1', [session.idHash]))[0]?.['user_id'])

describe('a passkey as the second step after a password', () => {
  it('signs in whoever has it, under a new session', async () => {
    const { person, key } = await keyed()
    const { session, api } = await newPerson()
    const first = await api.auth.login({ username: person.username, password: person.password, turnstile: '' })
    expect(first).toEqual({ secondStep: { authenticator: false, recoveryCodes: 10, passkey: true } })
    const between = session.idHash
    expect(await signedInAs(session)).toBe(0)
    const asked = await api.public.secondFactor.finishOptions()
    expect(asked.allowCredentials).toHaveLength(1)
    // The password was the one proof, so the device need not ask for a finger.
    const user = await api.public.secondFactor.finishByPasskey({ response: key.sign(asked, { unverified: true }) })
    expect(user).toMatchObject({ id: person.id })
    expect(await signedInAs(session)).toBe(person.id)
    expect(session.idHash).not.toBe(between)
  })

  it.each<[string, (parts: Keyed & { other: Keyed; asked: { challenge: string } }) => object]>([
    ['of somebody else', ({ other, asked }) => other.key.sign(asked)],
    ['of another question', ({ key }) => key.sign({ challenge: 'AAAAAAAAAAAAAAAAAAAAAA' })],
    ['given on another site', ({ key, asked }) => key.sign(asked, { origin: 'https://phishing.example' })],
    [
      'whose count went back, as that of a copy does',
      ({ key, asked }) => {
        key.countFrom(0)
        return key.sign(asked)
      },
    ],
  ])('refuses a signature %s, and after five of them the right one', async (_what, answer) => {
    const own = await keyed()
    const other = await keyed()
    const { session, api } = await newPerson()
    await api.auth.login({ username: own.person.username, password: own.person.password, turnstile: '' })
    const asked = await api.public.secondFactor.finishOptions()
    const finish = (response: object) => api.public.secondFactor.finishByPasskey({ response: response as never })
    for (let attempts = 0; attempts < 5; attempts += 1)
      expect(await codeOf(finish(answer({ ...own, other, asked })))).toBe('passkey.refused')
    own.key.countFrom(100)
    expect(await codeOf(finish(own.key.sign(asked)))).toBe('login.second_step_expired')
    expect(await signedInAs(session)).toBe(0)
  })

  it('takes one of fifty answers that come at once', async () => {
    const { person, key } = await keyed()
    const { api } = await newPerson()
    await api.auth.login({ username: person.username, password: person.password, turnstile: '' })
    const response = key.sign(await api.public.secondFactor.finishOptions())
    const finish = () => api.public.secondFactor.finishByPasskey({ response })
    const answers = await Promise.allSettled(Array.from({ length: 50 }, finish))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await codeOf(finish())).toBe('login.second_step_expired')
  })
})

describe('a passkey alone', () => {
  it('signs in by itself, only after a finger or a PIN, and not while its owner is banned', async () => {
    const { person, key } = await keyed({ passwordHash: null })
    const { session, api } = await newPerson()
    const ask = () => api.public.secondFactor.passkeyOptions()
    const come = async (unverified = false) =>
      api.public.secondFactor.loginByPasskey({ response: key.sign(await ask(), { unverified }) })
    expect(await codeOf(come(true))).toBe('passkey.refused')
    expect(await come()).toMatchObject({ id: person.id })
    expect(await signedInAs(session)).toBe(person.id)
    await app.sql('update users set status = 2 where id = $1', [person.id])
    expect(await codeOf(come())).toBe('login.failed')
  })

  it('is a way to sign in, so the last binding may go; and the last way of all stays', async () => {
    await app.setOptions({ GitHubClientId: 'x', GitHubOAuthEnabled: 'true' })
    const { person, api, id } = await keyed({ passwordHash: null, githubId: '77' })
    expect(await api.user.account.bindings.list()).toMatchObject([{ provider: 'github', isOnlyWay: false }])
    await api.user.account.bindings.unbind({ provider: 'github' })
    expect(await codeOf(api.user.secondFactor.passkeys.remove({ id }))).toBe('identity.only_way')
    expect(await api.user.secondFactor.passkeys.list()).toHaveLength(1)
    await app.sql(`update users set password_hash = 'x' where id = $1`, [person.id])
    await api.user.secondFactor.passkeys.remove({ id })
    expect(await api.user.secondFactor.passkeys.list()).toEqual([])
  })

  it('counts for nothing where it was made for another address of the site', async () => {
    await app.setOptions({ GitHubClientId: 'x', GitHubOAuthEnabled: 'true' })
    const { person, api } = await keyed({ passwordHash: null, githubId: '78' })
    await app.sql(`update passkeys set site = 'former.example' where user_id = $1`, [person.id])
    expect(await api.user.account.bindings.list()).toMatchObject([{ provider: 'github', isOnlyWay: true }])
    expect(await codeOf(api.user.account.bindings.unbind({ provider: 'github' }))).toBe('identity.only_way')
  })

  it('keeps one of two ways that are given up at once', async () => {
    await app.setOptions({ GitHubClientId: 'x', GitHubOAuthEnabled: 'true' })
    for (const githubId of ['81', '82', '83', '84', '85']) {
      const { person, api, id } = await keyed({ passwordHash: null, githubId })
      const outcomes = await Promise.allSettled([
        api.user.account.bindings.unbind({ provider: 'github' }),
        api.user.secondFactor.passkeys.remove({ id }),
      ])
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [row] = await app.sql(
        `select (github_id is not null)::int + (select count(*)::int from passkeys where user_id = users.id) as ways
         from users where id = $1`,
        [person.id],
      )
      expect(row).toEqual({ ways: 1 })
    }
  })
})

describe('a passkey as the proof that sensitive acts ask for', () => {
  it('is asked for again after ten minutes, and taken once, from its owner', async () => {
    const own = await keyed()
    const other = await keyed()
    await app.sql(
      `update sessions set created_at = now() - interval '11 minutes', verified_at = now() - interval '11 minutes' where user_id = $1`,
      [own.person.id],
    )
    const { secondFactor } = own.api.user
    expect(await codeOf(secondFactor.passkeys.options())).toBe('second_factor.required')
    const prove = (response: ReturnType<SecurityKey['sign']>) =>
      codeOf(own.api.user.secondFactor.verifyWithPasskey({ response }))
    const asked = await own.api.user.secondFactor.signatureOptions()
    expect(asked.allowCredentials).toHaveLength(1)
    expect(await prove(other.key.sign(asked))).toBe('passkey.refused')
    expect(await codeOf(secondFactor.passkeys.options())).toBe('second_factor.required')
    const response = own.key.sign(await own.api.user.secondFactor.signatureOptions())
    await own.api.user.secondFactor.verifyWithPasskey({ response })
    expect(await secondFactor.passkeys.options()).toMatchObject({ challenge: expect.any(String) })
    expect(await prove(response)).toBe('passkey.refused')
  })
})

describe('a root user with passkeys alone', () => {
  it('does not move the site to where they count for nothing, unless a recovery code is left', async () => {
    const { person, api } = await keyed({ role: 100 })
    const move = async () =>
      (await api.admin.options.save({ changes: [{ key: 'ServerAddress', value: 'https://moved.example' }] })).failed
    await app.sql('update recovery_codes set used_at = now() where user_id = $1', [person.id])
    expect(await move()).toMatchObject([{ key: 'ServerAddress', code: 'option.no_second_factor' }])
    await app.sql(
      'update recovery_codes set used_at = null where code_hash in (select code_hash from recovery_codes where user_id = $1 limit 1)',
      [person.id],
    )
    expect(await move()).toEqual([])
    const browser = await newPerson()
    const signIn = { username: person.username, password: person.password, turnstile: '' }
    expect(await browser.api.auth.login(signIn)).toEqual({
      secondStep: { authenticator: false, recoveryCodes: 1, passkey: false },
    })
    await app.setOptions({ ServerAddress: '' })
  })
})

describe('keeping a passkey', () => {
  it('is for who was asked, once, and each device once', async () => {
    const { api, key } = await keyed()
    const asked = await api.user.secondFactor.passkeys.options()
    const add = (response: ReturnType<SecurityKey['register']>) =>
      codeOf(api.user.secondFactor.passkeys.add({ name: 'again', response }))
    expect(await add(key.register(asked))).toBe('passkey.known')
    expect(await add(createSecurityKey().register(asked))).toBe('passkey.refused')
    const elsewhere = await api.user.secondFactor.passkeys.options()
    expect(await add(createSecurityKey().register(elsewhere, { origin: 'https://phishing.example' }))).toBe(
      'passkey.refused',
    )
  })

  it('ends at twenty, and a name has one to fifty characters', async () => {
    const { person, api, id } = await keyed()
    // Several browsers may have begun before the last one was kept.
    const late = createSecurityKey()
    const response = late.register(await api.user.secondFactor.passkeys.options())
    await app.sql(
      `insert into passkeys (user_id, name, credential_id, public_key, site)
       select $1::int, 'more', 'more-' || $1::int || '-' || n, '', 'localhost' from generate_series(1, 19) n`,
      [person.id],
    )
    await expect(api.user.secondFactor.passkeys.options()).rejects.toThrow('最多可以添加 20 个通行密钥')
    await expect(api.user.secondFactor.passkeys.add({ name: 'late', response })).rejects.toThrow(
      '最多可以添加 20 个通行密钥',
    )
    const rename = (name: string) => api.user.secondFactor.passkeys.rename({ id, name })
    await expect(rename(' ')).rejects.toThrow('passkey.name_missing')
    await expect(rename('x'.repeat(51))).rejects.toThrow('passkey.name_too_long')
    await rename('x'.repeat(50))
  })
})
