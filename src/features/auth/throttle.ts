import { DomainError } from '#core/errors.ts'
import { networkOf } from '../client-address/service.ts'
import type { Deps } from '../deps.ts'

type Attempt = Pick<Deps, 'limits' | 'client'>

type Purpose = 'login' | 'confirm-password' | 'second-factor' | 'recovery-code' | 'wechat'

const seconds = 900
/** Wrong attempts of one network at one account, of one network at whatever accounts, and at one account from wherever. */
const maxAttempts = { pair: 10, network: 30, account: 50 }
/** What each network still has at an account that is guessed at from many. Never none: others must not lock anybody out. */
const attemptsUnderAttack = 2
/**
 * What is left to nobody: codes of a few figures are found by whoever has enough networks, and in IPv6 those cost nothing. Others
 * shut nobody out by it: a one-time password is asked of those who have proved something else, whom recovery codes and passkeys still
 * let in, and whoever signs in by WeChat waits for the quarter of an hour to end.
 */
const hardCaps: Partial<Record<Purpose, { points: number; seconds: number }>> = {
  'second-factor': { points: 100, seconds: 86_400 },
  wechat: { points: 100, seconds },
}

/**
 * Looks at a secret and counts that as an attempt, unless it was right or could not be looked at: whoever was sent away because
 * too many came at once has guessed nothing.
 * @throws {DomainError} rate_limited, and whatever `isRight` throws
 */
export async function tryOnce(
  deps: Attempt,
  attempt: { purpose: Purpose; account: string },
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const takeBack = await countTry(deps, attempt)
  let isWrong = false
  try {
    isWrong = !(await isRight())
    return !isWrong
  } finally {
    if (!isWrong) await takeBack()
  }
}

/**
 * Counts an attempt before the secret is looked at, so that attempts made at once are counted as well as those made in turn.
 * Accounts that do not exist are counted like those that do. Returns what takes the count back.
 */
async function countTry(
  { limits, client }: Attempt,
  { purpose, account }: { purpose: Purpose; account: string },
): Promise<() => Promise<void>> {
  const network = networkOf(client.ip)
  const subject = account.normalize('NFKC').toLowerCase()
  const ofNetwork = { name: `${purpose}-network`, key: network, points: maxAttempts.network, seconds }
  const ofPair = { name: `${purpose}-pair`, key: `${network} ${subject}`, points: maxAttempts.pair, seconds }
  const ofAccount = { name: `${purpose}-account`, key: subject, points: maxAttempts.account, seconds }
  if (!(await limits.consume(ofNetwork)).allowed) throw new DomainError('rate_limited')
  const own = await limits.consume(ofPair)
  // Only attempts that are made count against the account, so one network alone cannot use its count up.
  if (!own.allowed) throw new DomainError('rate_limited')
  const everybody = await limits.consume(ofAccount)
  if (!everybody.allowed && own.used > attemptsUnderAttack) throw new DomainError('rate_limited')
  const cap = hardCaps[purpose]
  const capped = cap ? [{ name: `${purpose}-cap`, key: subject, ...cap }] : []
  for (const limit of capped) if (!(await limits.consume(limit)).allowed) throw new DomainError('rate_limited')
  return async () => {
    await Promise.all([ofNetwork, ofPair, ofAccount, ...capped].map((limit) => limits.giveBack(limit)))
  }
}

/** Mails of one kind to one address within an hour: those that one network asks for, and those that all do. */
const maxMails = { network: 5, everybody: 20 }

/**
 * Counted by network first, so that other people's requests do not use up the owner's; nobody's mailbox is filled all the same.
 * @throws {DomainError} rate_limited
 */
export async function limitMails(
  { limits, client }: Attempt,
  { purpose, email }: { purpose: 'email' | 'password-reset'; email: string },
): Promise<void> {
  const name = `mails-${purpose}`
  const key = `${networkOf(client.ip)} ${email}`
  const own = await limits.consume({ name: `${name}-network`, key, points: maxMails.network, seconds: 3600 })
  if (!own.allowed) throw new DomainError('rate_limited')
  const all = await limits.consume({ name, key: email, points: maxMails.everybody, seconds: 3600 })
  if (!all.allowed) throw new DomainError('rate_limited')
}
