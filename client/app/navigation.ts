import type { SiteStatus } from '../lib/status.ts'
import { hasPage } from './pages.ts'
import type { AppRoute } from './routes.tsx'
import { routes } from './routes.tsx'

export const knownRoutes: readonly AppRoute[] = routes.filter((route) => hasPage(route.page))

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/').slice(1)

/** Whether a path is one of a pattern: `:name` stands for any segment, `:name?` for one that may be left out. */
function fits(pattern: string, path: string): boolean {
  const wanted = segmentsOf(pattern)
  const given = segmentsOf(path)
  if (given.length > wanted.length) return false
  return wanted.every((segment, index) => {
    const value = given[index]
    if (!segment.startsWith(':')) return value === segment
    return value === undefined ? segment.endsWith('?') : value !== ''
  })
}

export const routeOf = (path: string, among: readonly AppRoute[] = knownRoutes): AppRoute | undefined =>
  among.find((route) => route.paths.some((pattern) => fits(pattern, path)))

/** Whoever may open a page finds it, also where the sidebar leaves it to others. */
export const isFound = (route: AppRoute, role: number, status: SiteStatus): boolean =>
  route.nav !== undefined && role >= route.role && (route.nav.shown?.(status) ?? true)

/** Whether the sidebar offers the page. */
export function isOffered(route: AppRoute, role: number, status: SiteStatus): boolean {
  if (!route.nav || role < route.role || role < (route.nav.role ?? 0)) return false
  return route.nav.shown?.(status) ?? true
}

export const isChat = (path: string): boolean => /^\/(app\/chat|chat|chat2link)(\/|$)/.test(path)

/** Pixels: the names of chat links stand further in. */
export const sidebarWidth = (path: string, collapsed: boolean): number => (collapsed ? 60 : isChat(path) ? 240 : 200)
