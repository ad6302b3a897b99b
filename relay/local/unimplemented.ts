import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { authenticate } from '#relay/gateway/authenticate.ts'
import type { RelayServices } from '#relay/gateway/call.ts'
import { receive } from '#relay/gateway/receive.ts'
import { reportError } from '#relay/gateway/report-error.ts'

/** The documented reply of a documented path that no gateway of this kind serves: 501, to known callers only. */
export async function answerUnimplemented(services: RelayServices, req: Request, res: Response): Promise<void> {
  const incoming = receive(services, openAiChat, { req, res })
  try {
    await authenticate(services, req)
    const error = new DomainError('relay.not_implemented')
    res.status(501).json({ error: { message: error.message, type: 'gateway_error', param: '', code: error.wire } })
  } catch (error) {
    reportError(services, incoming, error)
  }
}
