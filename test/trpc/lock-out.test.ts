import { beforeEach, expect, it } from 'vitest'
import { codeOf, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
const github = { GitHubClientId: 'client', GitHubOAuthEnabled: 'true' }
const turnstile = { TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' }
const oidc = { 'oidc.client_id': 'client', 'oidc.well_known': 'https://id.example/.well-known/openid-configuration' }
const locksOut = { code: 'option.no_way_in' }
beforeEach(() => app.sql('delete from options'))

type Fields = Parameters<typeof app.person>[0]
type Changes = Record<string, string | boolean>

/** What is refused of changes that a root user saves in the settings, by key. */
async function save(fields: Fields, changes: Changes) {
  const { admin } = await app.trpc(await app.person({ role: 100, ...fields }))
  const { failed } = await admin.options.save({
    changes: Object.entries(changes).map(([key, value]) => ({ key, value })),
  })
  return new Map(failed.map(({ key, code }) => [key, { code }]))
}

it.each<[string, Record<string, string>, Fields, Changes]>([
  ['the only way', {}, {}, { PasswordLoginEnabled: false }],
  [
    'the last of two ways',
    { ...github, PasswordLoginEnabled: 'false' },
    { githubId: '1' },
    { GitHubOAuthEnabled: false },
  ],
  ['what a way needs', { ...github, PasswordLoginEnabled: 'false' }, { githubId: '2' }, { GitHubClientId: '' }],
  [
    'the issuer that knows the account',
    { ...oidc, 'oidc.enabled': 'true', PasswordLoginEnabled: 'false' },
    { oidcId: 'me', oidcIssuer: 'https://id.example' },
    { 'oidc.well_known': 'https://other.example/.well-known/openid-configuration' },
  ],
  ['the secret of the check before passwords', turnstile, {}, { TurnstileSecretKey: '' }],
])('a root user does not take %s from themselves', async (_, options, fields, changes) => {
  await app.setOptions(options)
  expect(await save(fields, changes)).toEqual(
    new Map(Object.keys(changes).map((key): [string, object] => [key, locksOut])),
  )
})

it('a root user with another way takes one away, and what else was saved with a refused change is saved', async () => {
  await app.setOptions(github)
  expect(await save({ githubId: '3' }, { PasswordLoginEnabled: false })).toEqual(new Map())
  await app.setOptions({ PasswordLoginEnabled: 'true' })
  expect(await save({}, { PasswordLoginEnabled: false, SystemName: 'Named' })).toEqual(
    new Map([['PasswordLoginEnabled', locksOut]]),
  )
  expect([app.services.options.get('SystemName'), app.services.options.get('PasswordLoginEnabled')]).toEqual([
    'Named',
    true,
  ])
})

it('a root user does not reset the last way to its default', async () => {
  await app.setOptions({ ...github, PasswordLoginEnabled: 'false' })
  const { admin } = await app.trpc(await app.person({ role: 100, githubId: '4' }))
  expect(await codeOf(admin.options.reset({ keys: ['GitHubOAuthEnabled'] }))).toBe('option.no_way_in')
  await admin.options.reset({ keys: ['GitHubOAuthEnabled', 'PasswordLoginEnabled'] })
  expect(app.services.options.get('PasswordLoginEnabled')).toBe(true)
})

it('the documented path saves any value, for a root user who can save the other one as well', async () => {
  const browser = await app.signedIn(await app.person({ role: 100 }))
  for (const value of ['false', 'true'])
    expect((await browser.put('/api/option/', { key: 'PasswordLoginEnabled', value })).body['success']).toBe(true)
})
