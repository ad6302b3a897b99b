import { DomainError } from '#core/errors.ts'
import { networkOf } from '../client-address/service.ts'
import type { Deps } from '../deps.ts'

type Attempt = Pick<Deps, 'limits' | 'client'>

type Purpose = 'login' | 'confirm-password' | 'second-factor' | 'wechat'

const seconds = 900
/** Wrong attempts of one network at one account, of one network at whatever accounts, and at one account from wherever. */
const maxAttempts = { pair: 10, network: 30, account: 50 }
/** What each network still has at an account that is guessed at from many. Never none: others must not lock anybody out. */
const attemptsUnderAttack = 2

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
  return async () => {
    await Promise.all([ofNetwork, ofPair, ofAccount].map((limit) => limits.giveBack(limit)))
  }
}

/** Mails to one address, whoever asks for them. @throws {DomainError} rate_limited */
export async function limitMails({ limits }: Pick<Deps, 'limits'>, email: string): Promise<void> {
  const verdict = await limits.consume({ name: 'mails', key: email, points: 5, seconds: 3600 })
  if (!verdict.allowed) throw new DomainError('rate_limited')
}
