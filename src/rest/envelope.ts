import type { Response } from 'express'
import type { DomainError, Kind, Language } from '#core/errors.ts'
import { renderMessage } from '#core/render-message.ts'
import type { BoundRoute } from './route.ts'

/** Refusals are 200 with `success: false`, except where clients act on the status alone. */
export const statusOfKind: Record<Kind, number> = {
  unauthenticated: 401,
  forbidden: 200,
  not_found: 200,
  invalid: 200,
  conflict: 200,
  rate_limited: 429,
  quota_exhausted: 200,
  upstream: 200,
  unavailable: 200,
  internal: 500,
}

/** What a row says of its reply's form. */
type RouteEnvelope = Pick<BoundRoute, 'envelope' | 'message' | 'topLevelOfRefusal' | 'status'>

/** `beside`: what stands beside success and message. */
type Answer = { output: unknown; data: unknown; beside: Record<string, unknown> | undefined }
type Refusal = { error: DomainError; language: Language }

export function sendSuccess(res: Response, route: RouteEnvelope, { output, data, beside }: Answer): void {
  if (route.envelope === 'message-only') {
    res.json({ message: 'success', ...beside, data })
    return
  }
  res.json({
    success: true,
    message: route.message(output),
    ...beside,
    ...(data === undefined ? {} : { data }),
  })
}

export function sendRefusal(res: Response, route: RouteEnvelope | null, { error, language }: Refusal): void {
  const status = route?.status[error.code] ?? error.status ?? statusOfKind[error.kind]
  if (status === 429) {
    res.status(429).end()
    return
  }
  if (status === 503) res.setHeader('retry-after', '5')
  const message = renderMessage(error, language)
  if (route?.envelope === 'message-only') {
    res.status(status).json({ message: 'error', data: message })
    return
  }
  res.status(status).json({ success: false, message, ...route?.topLevelOfRefusal })
}
