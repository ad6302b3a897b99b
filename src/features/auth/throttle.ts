import ipaddr from 'ipaddr.js'
import { DomainError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'

const failures = { name: 'login-failures', points: 10, seconds: 900 }

/** One household or server: the address, or its /64 in IPv6, where addresses cost nothing. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  return address.kind() === 'ipv4' ? address.toString() : address.toByteArray().slice(0, 8).join('.')
}

type Attempt = Pick<Deps, 'limits' | 'client'>

/** Per account and network together: strangers can use up their own tries, never somebody else's. */
const keyOf = ({ client }: Attempt, username: string) => `${networkOf(client.ip)} ${username.toLowerCase()}`

export async function checkLoginThrottle(deps: Attempt, username: string): Promise<void> {
  const verdict = await deps.limits.peek({ ...failures, key: keyOf(deps, username) })
  if (!verdict.allowed) throw new DomainError('rate_limited')
}

export async function countLoginFailure(deps: Attempt, username: string): Promise<void> {
  await deps.limits.consume({ ...failures, key: keyOf(deps, username) })
}

/** Mails to one address, whoever asks for them. */
export async function limitMails({ limits }: Pick<Deps, 'limits'>, email: string): Promise<void> {
  const verdict = await limits.consume({ name: 'mails', key: email, points: 5, seconds: 3600 })
  if (!verdict.allowed) throw new DomainError('rate_limited')
}
