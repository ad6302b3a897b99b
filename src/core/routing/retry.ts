import { includesStatus, parseStatusCodes } from '../options/status-codes.ts'

/** The options of automatic retries, by their documented keys. */
export type RetrySettings = {
  RetryTimes: number
  'global.auto_retry_enabled': boolean
  'global.auto_retry_count': number
  'global.auto_retry_status_codes': string
}

/** How many attempts may follow the first. */
export const retryLimit = (settings: RetrySettings): number =>
  settings['global.auto_retry_enabled']
    ? Math.max(settings.RetryTimes, settings['global.auto_retry_count'])
    : settings.RetryTimes

export type FailedAttempt = {
  /** After the channel's status mapping; a connection that failed counts as 500. */
  status: number
  /** The gateway itself refused; no other channel would change that. */
  local: boolean
  channelType: number
  /** The caller's key names the channel. */
  pinned: boolean
  /** A data event or a body has gone to the caller. */
  started: boolean
  retriesLeft: number
  route?: 'text' | 'task' | 'drawing' | undefined
  settings: RetrySettings
}

/** This type of channel answers 400 also for faults of its own. */
const typeWithDoubtful400 = 14

export function mayRetry(attempt: FailedAttempt): boolean {
  if (attempt.pinned || attempt.started || attempt.retriesLeft <= 0 || attempt.route === 'drawing') return false
  if (attempt.route === 'task') return isRetryableTask(attempt)
  if (attempt.local) return false
  return attempt.settings['global.auto_retry_enabled']
    ? includesStatus(parseStatusCodes(attempt.settings['global.auto_retry_status_codes']), attempt.status)
    : isRetryableStatus(attempt.status, attempt.channelType === typeWithDoubtful400)
}

/** Whether a place that failed so may answer the very same call a little later. */
export const mayPass = (status: number): boolean => status >= 500 || [408, 409, 425, 429].includes(status)

/** Whether an answer without anything in it is worth another attempt: only with automatic retries. */
export const mayRetryEmpty = (attempt: Pick<FailedAttempt, 'pinned' | 'retriesLeft' | 'settings'>): boolean =>
  attempt.settings['global.auto_retry_enabled'] && !attempt.pinned && attempt.retriesLeft > 0

/** Of a task, an overload or fault is worth another attempt even when we noticed it ourselves; a 400 never is. */
function isRetryableTask({ status, local, settings }: FailedAttempt): boolean {
  if (status === 400) return false
  const isOverload = status === 429 || status === 307 || (status >= 500 && !isTimeout(status))
  if (!isOverload && local) return false
  return settings['global.auto_retry_enabled']
    ? includesStatus(parseStatusCodes(settings['global.auto_retry_status_codes']), status)
    : isRetryableStatus(status, false)
}

const isTimeout = (status: number): boolean => status === 504 || status === 524

function isRetryableStatus(status: number, retries400: boolean): boolean {
  if (status === 400) return retries400
  return !isTimeout(status) && status !== 408 && Math.floor(status / 100) !== 2
}
