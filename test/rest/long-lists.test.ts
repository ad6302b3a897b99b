import { expect, it } from 'vitest'
import { startFileConsole } from '#test/support/console-app.ts'

// Programs read a list to its end by what it says of itself: nothing of it may be missing without a sign.

const app = await startFileConsole()
const anna = await app.person({ username: 'anna' })
const admin = await app.signedIn(await app.person({ role: 10 }))
const user = await app.signedIn(anna)

type Page = { items: { content: string }[]; total: number; page_size: number }

it.each(['/api/log/', '/api/log/self'])('%s is read to its last row by its pages, however long it is', async (path) => {
  await app.sql('truncate logs restart identity')
  await app.sql(
    `insert into logs (user_id, username, type, content) select $1, 'anna', 2, n::text from generate_series(1, 10250) n`,
    [anna.id],
  )
  const page = async (p: number) =>
    (await (path === '/api/log/' ? admin : user).get(path, { query: { p: String(p), page_size: '1000' } })).data as Page
  const contents: string[] = []
  let read = await page(1)
  for (let p = 1; ; p += 1) {
    contents.push(...read.items.map(({ content }) => content))
    if (p * read.page_size >= read.total) break
    read = await page(p + 1)
  }
  expect(contents).toEqual(Array.from({ length: 10_250 }, (_, index) => String(10_250 - index)))
  expect(read.total).toBe(10_250)
  expect(await page(200)).toMatchObject({ items: [], total: 10_250 })
})

it('the channels come in one page of up to a thousand, and with their number where there are more', async () => {
  await app.sql(
    `insert into channels (type, name, key_encrypted, models) select 1, 'c' || n, '', 'm' from generate_series(1, 1005) n`,
  )
  const asked = async (query: Record<string, string>) => {
    const reply = await admin.get('/api/channel/', { query })
    return [(reply.data as unknown[]).length, reply.headers.get('x-total-count')]
  }
  expect(await asked({ page_size: '500' })).toEqual([500, '1005'])
  expect(await asked({ page_size: '5000' })).toEqual([1000, '1005'])
  expect(await asked({ p: '1', page_size: '1000' })).toEqual([5, '1005'])
})

it('a page of the log and of the codes holds up to a thousand for administrators', async () => {
  await app.sql(`insert into logs (user_id, type) select $1, 2 from generate_series(1, 1005)`, [anna.id])
  await app.sql(
    `insert into redemptions (user_id, name, quota, key_hash, key_encrypted)
       select 1, 'code', 1, n::text, $1 from generate_series(1, 1005) n`,
    [app.services.secrets.encrypt('text')],
  )
  const sizes = async (query: Record<string, string>) =>
    Promise.all(
      ['/api/log/', '/api/redemption/', '/api/redemption/search'].map(
        async (path) => ((await admin.get(path, { query })).data as Page).items.length,
      ),
    )
  expect(await sizes({ page_size: '1000' })).toEqual([1000, 1000, 1000])
  expect(await sizes({ page_size: '5000' })).toEqual([1000, 1000, 1000])
  expect(((await user.get('/api/log/self', { query: { page_size: '1000' } })).data as Page).items).toHaveLength(100)
})

it('the tokens come with their number', async () => {
  for (const name of ['a', 'b']) expect((await user.post('/api/token/', { name })).body['success']).toBe(true)
  const reply = await user.get('/api/token/', { query: { size: '1' } })
  expect([(reply.data as unknown[]).length, reply.headers.get('x-total-count')]).toEqual([1, '2'])
})
