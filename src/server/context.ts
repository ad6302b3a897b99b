import type { Request, Response } from 'express'
import { parseCookie, stringifySetCookie } from 'cookie'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { authenticate, type Authentication, type Credentials } from '#features/auth/authenticate.ts'
import { noteUse, sessionCookie } from '#features/auth/session.ts'
import { userIdHeaderOf } from '#features/auth/user-id-header.ts'
import { clientOf } from '#features/client-address/service.ts'
import type { Context, Deps, Services } from '#features/deps.ts'

export async function createContext(
  services: Services,
  { req, res }: { req: Request; res: Response },
  userIdRule: Credentials['userIdRule'],
): Promise<Context> {
  // Where the database does not answer, what is asked of it next says so.
  await services.upToDate()?.catch(() => {})
  const em = services.database.orm.em.fork()
  const authentication = await whoAsks(em, req, userIdRule)
  const caller = clientOf(services, req)
  if (caller.unknownProxy) warnOfProxy(services, caller.ip)
  const language = req.acceptsLanguages('zh', 'en') === 'en' ? 'en' : 'zh'
  const client = { ...caller, language } as const
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
    // Nothing but its holder sends a system access token: no page of another site has it.
    crossSite: authentication.actor?.via !== 'access-token' && isCrossSite(req, userIdRule === 'none'),
    idempotencyKey: req.get('idempotency-key'),
    cookies: {
      set: (name, value, maxAge) => appendCookie(res, { name, value, maxAge, secure: client.secure }),
      clear: (name) => appendCookie(res, { name, value: '', maxAge: 0, secure: client.secure }),
    },
  }
}

const warned = new WeakSet<Services['log']>()

/** Once: limits by address would let in a few visitors of all, and anybody could use up everybody's. */
function warnOfProxy({ log }: Services, proxy: string): void {
  if (warned.has(log)) return
  warned.add(log)
  log.warn({ proxy }, 'a proxy forwards requests and TRUST_PROXY is not set: all visitors count as one address')
}

/** Who it is by session or access token, or why nobody can be named. */
export function whoAsks(em: Deps['em'], req: Request, userIdRule: Credentials['userIdRule']): Promise<Authentication> {
  const header = userIdHeaderOf(req)
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

/**
 * Whether something other than our own pages may have begun the request. Where nothing but the browser's cookie is asked for
 * (`cookieAlone`), an address that was opened from outside is refused too, which a mail program hands over and browsers call `none`.
 */
function isCrossSite(req: Request, cookieAlone: boolean): boolean {
  // No address and no form of another site can add the header.
  const wantsProof = cookieAlone && userIdHeaderOf(req) === undefined
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site !== 'same-origin' && (wantsProof || site !== 'none')
  const origin = req.get('origin') ?? (wantsProof ? req.get('referer') : undefined)
  if (origin !== undefined) return URL.parse(origin)?.host !== req.get('host')
  return wantsProof && isBrowser(req)
}

/** Every browser calls itself so; a program that holds a cookie was given it on purpose, and nobody else makes it ask. */
const isBrowser = (req: Request): boolean => /^Mozilla\//i.test(req.get('user-agent') ?? '')
