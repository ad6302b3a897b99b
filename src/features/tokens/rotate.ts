import { LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { RetiredTokenKey } from '#db/entities/retired-token-key.ts'
import { Token } from '#db/entities/token.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import type { RotateToken } from './schema.ts'
import { makeKey } from './key.ts'
import { type TokenView, toTokenViewWithKey } from './view.ts'

/**
 * Gives a token another key; it stays the same token, with its limits, its log and its figures. The former key stops at once, with
 * all before it, or works for a while longer.
 * @throws {DomainError} token.not_found
 */
export async function rotateToken(deps: UserDeps, input: RotateToken): Promise<TokenView & { key: string }> {
  const { id, graceSeconds } = input
  const made = makeKey(deps)
  const rotated = await deps.em.transactional(async (em) => {
    const token = await em.findOne(
      Token,
      { id, userId: deps.actor.id, deletedAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true },
    )
    if (!token) throw new DomainError('token.not_found')
    if (graceSeconds === 0) await em.nativeDelete(RetiredTokenKey, { tokenId: id })
    else {
      const worksUntil = new Date(deps.ambient.now().getTime() + graceSeconds * 1000)
      await em.insert(RetiredTokenKey, { keyHash: token.keyHash, tokenId: id, keyMask: token.keyMask, worksUntil })
    }
    await em.nativeUpdate(Token, { id }, made.columns)
    await recordAct(
      { ...deps, em },
      {
        action: 'tokens.rotate',
        targetType: 'token',
        targetId: id,
        targetName: token.name,
        before: { key: token.keyMask },
        after: { key: made.columns.keyMask, graceSeconds },
      },
    )
    // Before anybody else can change it: whoever asked gets the key that was made for it.
    return em.findOneOrFail(Token, { id }, { disableIdentityMap: true })
  })
  return toTokenViewWithKey(rotated, deps.secrets)
}
