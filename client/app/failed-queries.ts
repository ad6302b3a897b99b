import type { QueryCache } from '@tanstack/react-query'
import { notify } from '../components/notify.ts'
import { t } from '../i18n/t.ts'
import { errorText, isUnauthenticated } from '../lib/errors.ts'

/** Warns of queries that failed with nothing to show, where their views do not; returns what ends it. */
export const reportQueryFailures = (queries: QueryCache): (() => void) =>
  queries.subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    const { meta, state } = event.query
    // Who is signed out is led to the login, which says so.
    if (!meta?.['isReported'] || state.data !== undefined || isUnauthenticated(event.action.error)) return
    notify.warning(t('页面的部分内容加载失败'), { description: errorText(event.action.error) })
  })
