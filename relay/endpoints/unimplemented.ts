import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { dialectOfPath } from '#relay/routes.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { limit } from '#relay/request/limit.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError } from '#relay/response/report-error.ts'

/** The documented reply of a documented path that no gateway of this kind serves: 501, to known callers only. */
export async function answerUnimplemented(services: RelayServices, req: Request, res: Response): Promise<void> {
  const dialect = dialectOfPath(req.path)
  const incoming = receive(services, dialect, { req, res })
  try {
    const limited = await limit(services, await authenticate(services, req), incoming)
    await limited.ended(501)
    const error = new DomainError('relay.not_implemented')
    if (dialect !== openAiChat) return reportError(services, incoming, error)
    res.status(501).json({ error: { message: error.message, type: 'gateway_error', param: '', code: error.wire } })
  } catch (error) {
    reportError(services, incoming, error)
  }
}
