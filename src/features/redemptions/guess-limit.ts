import { DomainError } from '#core/errors.ts'
import { networkOf } from '../client-address/service.ts'
import type { UserDeps } from '../deps.ts'

const seconds = 900
/** Wrong codes of one user, and of one network under whatever accounts. */
const mostGuesses = { user: 60, network: 120 }

/**
 * Counts a guess before the code is looked for, so that guesses made at once count as well as those made in turn. Returns
 * what takes the count back where the code was none.
 * @throws {DomainError} rate_limited
 */
export async function countGuess({ limits, client, actor }: UserDeps): Promise<() => Promise<void>> {
  const ofUser = { name: 'redeem-user', key: String(actor.id), points: mostGuesses.user, seconds }
  const ofNetwork = { name: 'redeem-network', key: networkOf(client.ip), points: mostGuesses.network, seconds }
  if (!(await limits.consume(ofUser)).allowed) throw new DomainError('rate_limited')
  if (!(await limits.consume(ofNetwork)).allowed) throw new DomainError('rate_limited')
  return async () => {
    await Promise.all([limits.giveBack(ofUser), limits.giveBack(ofNetwork)])
  }
}
