import type { IncomingHttpHeaders } from 'node:http'
import type { Response } from 'express'

/**
 * What an upstream's headers tell its caller about the answer: limits, versions, the name of a file. Cookies, the account
 * behind the channel and whatever a browser would obey on our behalf stay here.
 */
const passedHeaders = /^(x-ratelimit-|anthropic-ratelimit-)|^(openai-processing-ms|openai-version|content-disposition)$/

export function passHeaders(res: Response, headers: IncomingHttpHeaders | undefined): void {
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined && passedHeaders.test(name)) res.setHeader(name, value)
  }
}
