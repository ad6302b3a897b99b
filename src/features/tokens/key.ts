import type { UserDeps } from '../deps.ts'
import { sha256 } from '../secrets/service.ts'

export const keyLength = 48

/** A new key and the columns that keep it. */
export function makeKey({ ambient, secrets }: Pick<UserDeps, 'ambient' | 'secrets'>) {
  const key = ambient.newId(keyLength)
  return {
    key,
    columns: {
      keyHash: sha256(key),
      keyEncrypted: secrets.encrypt(key),
      keyMask: `${key.slice(0, 3)}***${key.slice(-3)}`,
    },
  }
}
