import type { IncomingHttpHeaders } from 'node:http'

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)?.trim()

/** An unsigned number, fractions allowed; anything else is not one. */
const numeric = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined

/** How long the upstream asks to wait, in milliseconds; undefined when it does not say so in a known form. */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const precise = numeric(one(headers['retry-after-ms']))
  if (precise !== undefined) return precise
  const text = one(headers['retry-after'])
  const seconds = numeric(text)
  if (seconds !== undefined) return seconds * 1000
  // Dates have a comma or letters; a lone negative or odd number would parse as a year.
  if (text === undefined || !/[a-z]/i.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}
