import type { Request, Response } from 'express'
import { DomainError, isDomainError } from '#core/errors.ts'
import { clientNetwork } from '#features/client-address/service.ts'
import type { Services } from '#features/deps.ts'
import { type Body, hasBody, holdValue, parseBody, readBody } from '#features/request-bodies/read-body.ts'
import { whoAsks } from './context.ts'
import { trpcErrorOf } from '#trpc/procedure-errors.ts'

type Exchange = { req: Request; res: Response }

/** Whoever is not signed in has names and passwords to send. */
const largestAnonymous = 64 * 1024
/** Messages and lists with images in them. */
const largestOfUsers = 10 * 1024 * 1024

/**
 * The body of a request to the console's routes. Who asks is looked up before more of it is read than an anonymous caller may send.
 * @throws {DomainError} input.too_large and the refusals of `readBody`; why the sender's credentials do not count
 */
function readConsoleBody(services: Services, { req, res }: Exchange): Promise<Body> {
  return readBody(
    services.bodies,
    { req, res },
    {
      address: clientNetwork(services, req),
      largest: largestAnonymous,
      beyond: async () => {
        const { actor, refusal } = await whoAsks(services.database.orm.em.fork(), req, 'none')
        if (actor) return largestOfUsers
        throw req.headers.cookie || req.headers.authorization ? refusal : new DomainError('input.too_large')
      },
    },
  )
}

/** The value of a REST request's body; undefined where it has none. @throws {DomainError} as `readConsoleBody` */
export async function readJsonBody(services: Services, exchange: Exchange): Promise<unknown> {
  if (!hasBody(exchange.req)) return undefined
  const body = await readConsoleBody(services, exchange)
  return body.bytes.length === 0 ? {} : parseBody(body)
}

/** Hands tRPC the text of the body; without it, it would read for itself. */
export const readTrpcBody =
  (services: Services) =>
  (req: Request, res: Response, next: (error?: unknown) => void): void => {
    // What tRPC would make of the request cannot have this method.
    if (req.method === 'TRACE') return void res.status(405).end()
    // Nothing here reads a form, which a page of another site may send with the reader's cookie and without asking.
    if (req.is('multipart/*')) return next(trpcErrorOf(new DomainError('input.unreadable')))
    if (!hasBody(req)) return next()
    readText(services, { req, res }).then(
      (text) => {
        req.body = text
        next()
      },
      (error: unknown) => next(isDomainError(error) ? trpcErrorOf(error) : error),
    )
  }

async function readText(services: Services, exchange: Exchange): Promise<string> {
  const body = await readConsoleBody(services, exchange)
  await holdValue(body)
  return body.bytes.toString('utf8')
}
