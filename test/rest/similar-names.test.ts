import { describe, expect, it, test } from 'vitest'
import { UsernameLikeness } from '#db/migrations/0025-username-likeness.ts'
import { startConsole, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
await app.sql("insert into setup_records (id, version, initialized_at) values (1, '0', now())")

const similar = '该用户名与已有的用户名过于相似，请换一个'
const confusing = '用户名含有不可见的字符，或混用了容易混淆的文字'
const password = 'long enough'
const register = async (username: string) =>
  (await app.browser().post('/api/user/register', { username, password })).body

describe('a name that people would take for another', () => {
  it.each(['Paula', 'PAULA', 'pauIa', 'páula', 'pаula', 'ｐａｕｌａ'])(
    'is refused at sign-up: %s beside paula',
    async (name) => {
      await register('paula')
      const reply = await register(name)
      expect(reply).toMatchObject({ success: false, message: name === 'pаula' ? confusing : similar })
    },
  )

  it.each(['pau\u200bla', 'a\u202ebc', 'b\u3164', 'rооt'])('is refused for itself: %j', async (name) => {
    expect(await register(name)).toMatchObject({ success: false, message: confusing })
  })

  it('is refused by every other route that names an account', async () => {
    await app.person({ username: 'taken', usernameLikeness: 'taken' })
    const person = await app.person()
    const browser = await app.signedIn(person)
    const root = await app.signedIn(await app.person({ role: 100 }))
    const put = { id: person.id, display_name: 'x' }
    for (const [username, message] of [
      ['TAKEN', similar],
      ['ta\u200bken', confusing],
    ]) {
      expect((await browser.put('/api/user/self', { username })).body).toMatchObject({ success: false, message })
      expect((await root.put('/api/user/', { ...put, username })).body).toMatchObject({ success: false, message })
      expect((await root.post('/api/user/', { username, password })).body).toMatchObject({ success: false, message })
    }
    expect(await app.sql('select username from users where id = $1', [person.id])).toEqual([
      { username: person.username },
    ])
  })

  it('is given to one of twenty who ask for its forms at once', async () => {
    const forms = ['wanda', 'Wanda', 'WANDA', 'ｗanda']
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => register(forms[index % 4] ?? '')))
    expect(replies.filter(({ success }) => success)).toHaveLength(1)
  })

  it('may be kept, changed in its own letters and given back by whoever has it', async () => {
    const person = await app.person({ username: 'rооt kept' })
    const browser = await app.signedIn(person)
    const change = async (fields: object) => (await browser.put('/api/user/self', fields)).body['success']
    expect(await change({ username: 'rооt kept', display_name: 'Somebody' })).toBe(true)
    expect(await change({ username: 'keeper' })).toBe(true)
    expect(await change({ username: 'Keeper' })).toBe(true)
    expect(await change({ username: 'other' })).toBe(true)
    expect((await register('keeper')).success).toBe(true)
  })
})

test('accounts whose names look alike since before keep them, and the migration does not fail over them', async () => {
  const old = await startConsole()
  try {
    await old.sql('alter table users drop column username_likeness')
    const insert = (username: string, role = 1) =>
      old.sql('insert into users (username, role) values ($1, $2)', [username, role])
    for (const name of ['Admin', 'аdmin', "o'neil ?\\ $1", 'bob', '']) await insert(name)
    await insert('ADMIN', 100)
    await insert('BOB')
    const { em } = old.services.database.orm
    const migration = new UsernameLikeness(em.getDriver(), old.services.database.orm.config)
    await migration.up()
    expect(await old.sql('select username, username_likeness from users order by id')).toEqual([
      { username: 'Admin', username_likeness: null },
      { username: 'аdmin', username_likeness: null },
      { username: "o'neil ?\\ $1", username_likeness: "o'nell ?\\ $l" },
      { username: 'bob', username_likeness: 'bob' },
      { username: '', username_likeness: '' },
      { username: 'ADMIN', username_likeness: 'admln' },
      { username: 'BOB', username_likeness: null },
    ])
  } finally {
    await old[Symbol.asyncDispose]()
  }
})
