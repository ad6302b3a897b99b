import { emailAddress } from '#core/account-fields.ts'
import { DomainError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'

/** What the site has against an address that somebody wants to have here. */
export function addressProblem({ options }: Pick<Deps, 'options'>, email: string): DomainError | undefined {
  if (!emailAddress.safeParse(email).success) return new DomainError('email.invalid')
  const at = email.lastIndexOf('@')
  const [local, domain] = [email.slice(0, at), email.slice(at + 1).toLowerCase()]
  if (options.get('EmailDomainRestrictionEnabled')) {
    const allowed = options.get('EmailDomainWhitelist').some((entry) => entry.toLowerCase() === domain)
    if (!allowed) return new DomainError('email.domain_forbidden')
  }
  if (options.get('EmailAliasRestrictionEnabled') && /[+.]/.test(local)) return new DomainError('email.alias_forbidden')
  return undefined
}
