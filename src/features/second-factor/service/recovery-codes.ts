import { randomInt } from 'node:crypto'
import { RecoveryCode } from '#db/entities/recovery-code.ts'
import type { Deps } from '../../deps.ts'

type CodeDeps = Pick<Deps, 'em' | 'secrets'>

const howMany = 10
/** Without letters that are taken for figures. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const half = 5

const newCode = (): string => {
  const letters = Array.from({ length: 2 * half }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${letters.slice(0, half)}-${letters.slice(half)}`
}

/** Written from paper, with or without the dash, in whatever case. */
const hashOf = ({ secrets }: CodeDeps, userId: number, code: string): string =>
  secrets.hmac(`recovery:${userId}:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)

/** Ten new codes, shown this once; those from before are worth nothing from now on. */
export async function renewRecoveryCodes(deps: CodeDeps, userId: number): Promise<string[]> {
  const codes = new Set<string>()
  while (codes.size < howMany) codes.add(newCode())
  await deps.em.nativeDelete(RecoveryCode, { userId })
  await deps.em.insertMany(
    RecoveryCode,
    [...codes].map((code) => ({ userId, codeHash: hashOf(deps, userId, code) })),
  )
  return [...codes]
}

/** Whether it is one of the codes and was not used before. Of two uses at once one is. */
export async function useRecoveryCode(deps: CodeDeps, userId: number, code: string): Promise<boolean> {
  const used = await deps.em
    .getConnection()
    .execute<unknown[]>(
      `update recovery_codes set used_at = now() where user_id = ? and code_hash = ? and used_at is null returning user_id`,
      [userId, hashOf(deps, userId, code)],
      'all',
      deps.em.getTransactionContext(),
    )
  return used.length === 1
}
