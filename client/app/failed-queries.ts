import type { Query, QueryCache } from '@tanstack/react-query'
import { notify } from '../components/notify.ts'
import { t } from '../i18n/t.ts'
import { errorText, isUnauthenticated } from '../lib/errors.ts'

const isReported = ({ meta }: Query): boolean => meta?.['isReported'] === true

/** Asks again for all that was reported and is still wanted: whatever failed at once may be had at once. */
function askAgain(queries: QueryCache): void {
  for (const query of queries.findAll({ type: 'active' }))
    if (query.state.status === 'error' && isReported(query)) query.fetch().catch(() => undefined)
}

/** Whether a part of the page says so by itself, with a way to ask again. */
const isShownByPage = (reason: string): boolean =>
  [...document.querySelectorAll('[role=alert]')].some(
    (alert) => alert.closest('[data-scope=toast]') === null && alert.textContent.includes(reason),
  )

/** What fails together is drawn a little later. */
const pauseMs = 300

/**
 * Warns of queries that failed with nothing to show, where their views do not; returns what ends it. One failure is said once: where
 * the page says it, these are asked for again with whatever is had again.
 */
export function reportQueryFailures(queries: QueryCache, isShown = isShownByPage): () => void {
  let isHeldBack = false
  let isEnded = false
  const report = (reason: string) => {
    if (isEnded) return
    isHeldBack = isShown(reason)
    if (isHeldBack) return
    notify.warning(t('页面的部分内容加载失败'), {
      description: reason,
      action: { label: t('重试'), onClick: () => askAgain(queries) },
    })
  }
  const unsubscribe = queries.subscribe((event) => {
    if (event.type !== 'updated') return
    const { query, action } = event
    if (action.type === 'success' && isHeldBack && !isReported(query)) {
      isHeldBack = false
      askAgain(queries)
    }
    // Who is signed out is led to the login, which says so.
    if (action.type !== 'error' || !isReported(query) || query.state.data !== undefined) return
    if (!isUnauthenticated(action.error)) setTimeout(report, pauseMs, errorText(action.error))
  })
  return () => {
    isEnded = true
    unsubscribe()
  }
}
