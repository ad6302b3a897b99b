import { hash, verify } from '@node-rs/argon2'
import { createPasswordQueue } from './password-queue.ts'

/** One for the process, whose memory and threads they all share. */
const queued = createPasswordQueue()

/** argon2id with the library's parameters: 19 MiB, two passes. @throws {DomainError} password.busy */
export const hashPassword = (password: string): Promise<string> => queued(() => hash(password))

let decoy: Promise<string> | undefined

/**
 * Whether it is the password. Without a hash (no such user, or one who signs in elsewhere) the same work is done, so that
 * the time taken reveals nothing. @throws {DomainError} password.busy
 */
export async function isPassword(passwordHash: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hash('nobody has this password')
  const known = passwordHash ?? (await decoy)
  const fits = await queued(() => verify(known, password))
  return fits && passwordHash !== null && passwordHash !== undefined
}
