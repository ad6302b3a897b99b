import { Authenticator } from '#db/entities/authenticator.ts'
import { Passkey } from '#db/entities/passkey.ts'
import { RecoveryCode } from '#db/entities/recovery-code.ts'
import type { Deps } from '../../deps.ts'
import { secondFactorOf } from './standing.ts'

/** Recovery codes stand in for something: they go with the last of it. */
export async function forgetLastFactor({ em }: Pick<Deps, 'em'>, userId: number): Promise<void> {
  if ((await secondFactorOf(em, userId)) === null) await em.nativeDelete(RecoveryCode, { userId })
}

/** All that a user could prove a second time with. Part of the caller's transaction. */
export async function forgetSecondFactor({ em }: Pick<Deps, 'em'>, userId: number): Promise<void> {
  await em.nativeDelete(Authenticator, { userId })
  await em.nativeDelete(Passkey, { userId })
  await em.nativeDelete(RecoveryCode, { userId })
}
