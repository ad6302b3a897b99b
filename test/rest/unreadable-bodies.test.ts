import { afterAll, expect, test } from 'vitest'
import { restTable } from '#server/rest-table.ts'
import { startApp } from '#test/support/app.ts'

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())

const refusedWith400 = [
  'POST /api/channel/fetch_models',
  'POST /api/setup',
  'PUT /api/model_mapping/',
  'PUT /api/option/',
]

test('a body that cannot be parsed is refused with 200, and with 400 where the paths are documented so', async () => {
  const routes = Object.entries(restTable).flatMap(([key, { kind }]) => {
    const [method = '', path = ''] = key.split(' ')
    return kind === 'bound' && (method === 'POST' || method === 'PUT') ? [{ key, method, path }] : []
  })
  expect(routes.length).toBeGreaterThan(30)
  const with400: string[] = []
  for (const { key, method, path } of routes) {
    for (const body of ['{"half":', '"a text"', 'null']) {
      const reply = await fetch(app.url + path.replaceAll(/:\w+/g, '1'), { method, body })
      expect([200, 400], key).toContain(reply.status)
      expect(await reply.text(), key).toMatch(
        /^\{("success":false,"message"|"message":"error","data"):"请求内容无法解析"/,
      )
      if (reply.status === 400 && !with400.includes(key)) with400.push(key)
    }
  }
  expect(with400.sort()).toEqual(refusedWith400)
})
