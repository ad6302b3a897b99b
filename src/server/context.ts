import type { Request, Response } from 'express'
import { parseCookie, stringifySetCookie } from 'cookie'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { authenticate, type Authentication, type Credentials } from '#features/auth/authenticate.ts'
import { noteUse, sessionCookie } from '#features/auth/session.ts'
import { clientOf } from '#features/client-address/service.ts'
import type { Context, Deps, Services } from '#features/deps.ts'

/** Names under which clients send the user id; the last is our own. */
const userIdHeaders = ['veloera-user', 'new-api-user', 'x-user-id'] as const

export async function createContext(
  services: Services,
  { req, res }: { req: Request; res: Response },
  userIdRule: Credentials['userIdRule'],
): Promise<Context> {
  // Where the database does not answer, what is asked of it next says so.
  await services.upToDate()?.catch(() => {})
  const em = services.database.orm.em.fork()
  const authentication = await whoAsks(em, req, userIdRule)
  const language = req.acceptsLanguages('zh', 'en') === 'en' ? 'en' : 'zh'
  const client = { ...clientOf(services, req), language } as const
  const session = { idHash: authentication.idHash }
  if (authentication.seenAt) {
    // A database that nothing can be written to still shows what it has, to those above all who have to see to it.
    await noteUse({ em, session, client }, authentication.seenAt, services.ambient.now()).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) throw error
    })
  }
  return {
    ...services,
    em,
    actor: authentication.actor,
    refusal: authentication.refusal,
    session,
    client,
    requestId: String(res.getHeader('x-request-id') ?? ''),
    crossSite: isCrossSite(req),
    idempotencyKey: req.get('idempotency-key'),
    cookies: {
      set: (name, value, maxAge) => appendCookie(res, { name, value, maxAge, secure: client.secure }),
      clear: (name) => appendCookie(res, { name, value: '', maxAge: 0, secure: client.secure }),
    },
  }
}

/** Who it is by session or access token, or why nobody can be named. */
export function whoAsks(em: Deps['em'], req: Request, userIdRule: Credentials['userIdRule']): Promise<Authentication> {
  const header = userIdHeaders.map((name) => req.get(name)).find((value) => value)
  return authenticate(em, {
    sessionId: parseCookie(req.headers.cookie ?? '')[sessionCookie],
    authorization: req.get('authorization'),
    // The console says -1 while nobody is signed in.
    userIdHeader: header === '-1' ? undefined : header,
    userIdRule,
  })
}

type Cookie = { name: string; value: string; maxAge: number; secure: boolean }

function appendCookie(res: Response, cookie: Cookie): void {
  res.append('set-cookie', stringifySetCookie({ ...cookie, httpOnly: true, sameSite: 'strict', path: '/' }))
}

function isCrossSite(req: Request): boolean {
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = req.get('origin')
  return origin !== undefined && URL.parse(origin)?.host !== req.get('host')
}
