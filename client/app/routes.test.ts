import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import type { SiteStatus } from '../lib/status.ts'
import { currentStatus } from '../lib/status.ts'
import { isOffered, routeOf, sidebarWidth } from './navigation.ts'
import { hasPage, isFileOf, pageFiles } from './pages.ts'
import { routes } from './routes.tsx'

const status = (more: Partial<SiteStatus> = {}): SiteStatus => ({ ...currentStatus(), ...more })

const offered = (role: number, site: SiteStatus): string[] =>
  routes.filter((route) => isOffered(route, role, site)).map((route) => route.paths[0])

test('every page that was written can be reached', () => {
  const lost = pageFiles().filter((file) => !routes.some((route) => isFileOf(file, route.page)))
  expect(lost).toEqual([])
})

test('every route has its page', () => {
  const without = routes.filter((route) => !hasPage(route.page)).map((route) => route.page)
  expect(without).toEqual([])
})

test('what pages link to is a page', () => {
  const sources = globSync('client/**/*.tsx').map((file) => readFileSync(file, 'utf8'))
  const linked = sources.flatMap((source) => [...source.matchAll(/(?:href=|navigate\()\{?['"`](\/[^'"`?#]*)/g)])
  const written = linked.flatMap(([, address]) => address?.replace(/(?<=\/)\$\{.*?\}/, '1').replace(/\$.*/, '') ?? [])
  const addresses = [...new Set(written)]
  expect(addresses).toContain('/admin/channels')
  const ofServer = (address: string) => address.split('/')[1] === 'api'
  expect(addresses.filter((address) => !ofServer(address) && !routeOf(address, routes))).toEqual([])
})

test('no address leads to two pages', () => {
  const paths = routes.flatMap((route) => route.paths)
  expect(paths).toEqual([...new Set(paths)])
})

test('an address with an id, with or without it, finds its page', () => {
  expect(routeOf('/channel/edit/7', routes)?.page).toBe('channels')
  expect(routeOf('/app/inbox', routes)?.page).toBe('messages')
  expect(routeOf('/app/inbox/3', routes)?.page).toBe('messages')
  expect(routeOf('/chat', routes)?.page).toBe('chat')
  expect(routeOf('/app/wallet/topup-success', routes)?.page).toBe('wallet/topup-success')
  expect(routeOf('/nowhere', routes)).toBeUndefined()
})

test('the sidebar offers a guest only what is open to all', () => {
  expect(offered(roles.guest, status())).toEqual(['/pricing'])
})

test('dashboard, drawing and tasks are offered only where the site has them', () => {
  const flagged = ['/app/dashboard', '/app/logs/drawing', '/app/logs/tasks']
  expect(offered(roles.user, status())).not.toEqual(expect.arrayContaining([flagged[0]]))
  expect(offered(roles.user, status({ dataExportEnabled: true, drawingEnabled: true, taskEnabled: true }))).toEqual(
    expect.arrayContaining(flagged),
  )
})

test('an administrator is offered users and settings, and no other page of administration', () => {
  const own = offered(roles.admin, status()).filter((path) => path.startsWith('/admin/'))
  expect(own).toEqual(['/admin/users', '/admin/settings'])
})

test('channels, codes and messages are offered to the super administrator alone', () => {
  const own = ['/admin/channels', '/admin/coupons', '/admin/messages']
  expect(offered(roles.admin, status()).filter((path) => own.includes(path))).toEqual([])
  expect(offered(roles.root, status()).filter((path) => own.includes(path))).toEqual(own)
})

test('the sidebar is 200 wide, 240 beside a chat and 60 when collapsed', () => {
  expect([sidebarWidth('/app/tokens', false), sidebarWidth('/app/chat/0', false), sidebarWidth('/chat', true)]).toEqual(
    [200, 240, 60],
  )
})
