import { hash, verify } from '@node-rs/argon2'

/** argon2id with the library's parameters: 19 MiB, two passes. */
export const hashPassword = (password: string): Promise<string> => hash(password)

let decoy: Promise<string> | undefined

/**
 * Whether it is the password. Without a hash (no such user, or one who signs in elsewhere) the same work is done, so that
 * the time taken tells nothing.
 */
export async function isPassword(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword('nobody has this password')
  const fits = await verify(passwordHash ?? (await decoy), password)
  return fits && passwordHash !== null && passwordHash !== undefined
}
