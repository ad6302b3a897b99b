import type { Problem } from '#core/errors.ts'
import { readerOf } from '#core/options/registry/index.ts'
import { User } from '#db/entities/user.ts'
import { optionsOfWays, passkeysHere, waysToSignIn } from '#features/auth/ways-to-sign-in.ts'
import type { Deps } from '#features/deps.ts'
import { secondFactorOf } from '#features/second-factor/service/standing.ts'

type LockOutDeps = Pick<Deps, 'em' | 'options' | 'actor' | 'client'>

/**
 * Of changes that belong together, those after which the root user who makes them could not sign in again, or not prove what guarded
 * acts ask for: nobody stands above root to undo it. Whoever has no way in already may change what they like.
 */
export async function lockingOut(
  deps: LockOutDeps,
  changes: ReadonlyMap<string, unknown>,
): Promise<Map<string, Problem>> {
  const touched = [...changes.keys()].filter((key) => optionsOfWays.has(key))
  const user = touched.length > 0 && deps.actor ? await deps.em.findOne(User, { id: deps.actor.id }, fresh) : null
  if (!user) return new Map()
  const options = readerOf({ ...deps.options.snapshot().values, ...(Object.fromEntries(changes) as object) })
  const problem = await problemOf(deps, { ...deps, options }, user)
  return new Map(problem ? touched.map((key): [string, Problem] => [key, problem]) : [])
}

const fresh = { disableIdentityMap: true } as const

type Standing = Parameters<typeof waysToSignIn>[0]

async function problemOf(before: Standing, after: Standing, user: User): Promise<Problem | undefined> {
  if ((await waysToSignIn(after, user)).length === 0 && (await waysToSignIn(before, user)).length > 0)
    return { code: 'option.no_way_in', params: {} }
  const factor = await secondFactorOf(before.em, user.id)
  if (!factor || factor.authenticator || factor.recoveryCodes > 0) return undefined
  return (await passkeysHere(after, user.id)) === 0 && (await passkeysHere(before, user.id)) > 0
    ? { code: 'option.no_second_factor', params: {} }
    : undefined
}
