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

/** Warns of queries that failed with nothing to show, where their views do not; returns what ends it. */
export const reportQueryFailures = (queries: QueryCache): (() => void) =>
  queries.subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    // Who is signed out is led to the login, which says so.
    if (!isReported(event.query) || event.query.state.data !== undefined || isUnauthenticated(event.action.error))
      return
    notify.warning(t('页面的部分内容加载失败'), {
      description: errorText(event.action.error),
      action: { label: t('重试'), onClick: () => askAgain(queries) },
    })
  })
