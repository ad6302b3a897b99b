import type { SiteStatus } from '../lib/status.ts'
import { hasPage } from './pages.ts'
import type { AppRoute } from './routes.tsx'
import { routes } from './routes.tsx'

export const knownRoutes: readonly AppRoute[] = routes.filter((route) => hasPage(route.page))

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\/:\w+(\?)?/g, (_, optional?: string) => (optional ? '(?:/[^/]+)?' : '/[^/]+'))}/?$`)

export const routeOf = (path: string, among: readonly AppRoute[] = knownRoutes): AppRoute | undefined =>
  among.find((route) => route.paths.some((pattern) => patternOf(pattern).test(path)))

/** Whether the sidebar and the palette offer the page. */
export function isOffered(route: AppRoute, role: number, status: SiteStatus): boolean {
  if (!route.nav || role < route.role || role < (route.nav.role ?? 0)) return false
  return route.nav.shown?.(status) ?? true
}
