import { expect, test } from 'vitest'
import { describeRoutes, procedureRoutes, relayRoutes, restRoutes } from '#scripts/route-list.ts'

test('the list of routes names the procedure and the role behind every bound path', () => {
  const routes = restRoutes()
  expect(routes.filter((route) => route.procedure === '')).toEqual([])
  const login = routes.find((route) => route.path === '/api/user/login')
  expect(login).toMatchObject({ kind: 'POST', procedure: 'auth.login', role: 'anyone' })
  const unknown = routes.filter(({ procedure, role }) => role === '' && procedure !== 'its own handler')
  expect(unknown).toEqual([])
})

test('the list of routes distinguishes the roles', () => {
  const roles = new Map(procedureRoutes().map(({ path, role }) => [path, role]))
  expect(roles.get('user.tokens.create')).toBe('user')
  expect(roles.get('admin.channels.create')).toBe('admin')
  expect(new Set(roles.values())).toEqual(new Set(['anyone', 'user', 'admin', 'root']))
})

test('the list of routes has what callers of every dialect ask', () => {
  const paths = relayRoutes().map(({ kind, path }) => `${kind} ${path}`)
  expect(paths).toEqual(expect.arrayContaining(['POST /v1/chat/completions', 'POST /v1/messages', 'GET /v1/models']))
})

test('the list of routes says which paths only refuse, and which are WebSockets', () => {
  const page = describeRoutes()
  expect(page).toMatch(/\| any \| `\/v1\/files` \| 501: not implemented \|/)
  expect(page).toMatch(/\| DELETE \| `\/v1\/models\/\*rest` \| 501: not implemented \|/)
  expect(page).toMatch(/\| any \| `\/v2\/\*path` \| 404: unknown path \|/)
  expect(page).toMatch(/\| GET \| `\/v1\/responses` \| WebSocket \|/)
  expect(page).toMatch(/\| POST \| `\/v1\/responses` \| {2}\|/)
})
