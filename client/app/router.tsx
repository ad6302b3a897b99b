import { Suspense, useEffect, useRef } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { loginAddress, useSession } from '../lib/session.ts'
import { useStatus } from '../lib/status.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { devRoutes } from './dev-pages.tsx'
import { knownRoutes, routeOf } from './navigation.ts'
import { t, useSentences } from '../i18n/t.ts'
import { NotAllowed } from './not-allowed.tsx'
import { NotFound } from './not-found.tsx'
import { PageLoading } from './page-loading.tsx'
import { pageOf } from './pages.ts'
import type { AppRoute } from './routes.tsx'
import { Shell } from './shell.tsx'

function GuardedPage({ route }: { route: AppRoute }) {
  const { role, user } = useSession()
  const Page = pageOf(route.page)
  if (route.role > 0 && !user) {
    // Existing clients say it in the address of the page itself.
    const expired = new URLSearchParams(window.location.search).get('expired') === 'true'
    return <Redirect to={loginAddress(expired)} replace />
  }
  if (role < route.role && route.refusal === 'home') return <Redirect to="/" replace />
  if (role < route.role) return <NotAllowed title={t(route.title)} />
  return <Page />
}

/** Another page begins at its top, and has the focus unless it gave it to a field of its own. */
function useFreshStart(page: string | undefined) {
  const before = useRef(page)
  useEffect(() => {
    if (before.current === page) return
    before.current = page
    const content = document.getElementById('content')
    content?.scrollTo({ top: 0 })
    // A form that opens with the page stands outside of it, and would mark the field that it has to leave.
    const isTaken = content?.contains(document.activeElement) || document.activeElement?.closest('[role=dialog]')
    if (!isTaken) content?.focus({ preventScroll: true })
  }, [page])
}

export function AppRouter() {
  const [path] = useLocation()
  const { setUp } = useStatus()
  const { user } = useSession()
  const isReadable = useSentences(user !== undefined)
  const route = routeOf(path)
  useFreshStart(route?.page)
  if (!setUp && path !== '/setup' && routeOf('/setup')) return <Redirect to="/setup" replace />
  const frame = route ? (route.frame ?? 'console') : path.startsWith('/dev/') ? 'console' : 'site'
  if (frame === 'console' && !isReadable) return <PageLoading />
  const content = (
    <ErrorBoundary resetKey={path}>
      <Suspense fallback={<PageLoading />}>
        <Switch>
          {knownRoutes.flatMap((known) =>
            known.paths.map((pattern) => (
              <Route key={pattern} path={pattern}>
                <GuardedPage key={known.page} route={known} />
              </Route>
            )),
          )}
          {devRoutes()}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
  return frame === 'bare' ? content : <Shell frame={frame}>{content}</Shell>
}
