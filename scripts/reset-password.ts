import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { roles } from '#core/roles.ts'
import { fromUrl } from '#db/connection.ts'
import { startEmbedded } from '#db/embedded.ts'
import { User } from '#db/entities/user.ts'
import { connect, type Database } from '#db/orm.ts'
import { recordAct } from '#features/audit/service.ts'
import { hashPassword } from '#features/auth/password.ts'
import { replacePassword } from '#features/auth/replace-password.ts'
import { forgetSecondFactor } from '#features/second-factor/service/forget.ts'
import { secondFactorOf } from '#features/second-factor/service/standing.ts'
import { readEnvironment } from '#server/env.ts'
import { systemAmbient } from '#server/process.ts'

/** For an account that nobody can sign in to any more. Resolves with what is said, once, after the change is stored. */
async function resetPassword({ orm }: Database, username: string, alsoSecondFactor: boolean): Promise<string> {
  const password = systemAmbient.newId(20)
  const passwordHash = await hashPassword(password)
  await orm.em.fork().transactional(async (em) => {
    const user = await em.findOne(User, { username, deletedAt: null })
    if (!user) {
      const root = await em.findOne(User, { role: roles.root, deletedAt: null })
      throw new Error(`No account is named ${username}.${root ? ` Root's is named ${root.username}.` : ''}`)
    }
    const scope = { em, session: { idHash: null }, actor: null, client: { ip: '' } }
    const act = { targetType: 'user', targetId: user.id, targetName: username, reason: 'npm run reset-password' }
    await replacePassword(scope, user.id, { passwordHash, keepsOwnSession: false })
    await recordAct(scope, { ...act, action: 'users.update', after: { password: true } })
    if (!alsoSecondFactor) return
    const before = await secondFactorOf(em, user.id)
    await forgetSecondFactor(scope, user.id)
    if (before) await recordAct(scope, { ...act, action: 'users.reset_second_factor', before })
  })
  return `\n  The new password of ${username}: ${password}\n\n`
}

/** In the product's database, which runs already or is started for as long as this takes. Its schema stays as it is. */
async function main(): Promise<void> {
  const options = { 'second-factor': { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [username, ...more] = positionals
  if (!username || more.length > 0) throw new Error('npm run reset-password -- <username> [--second-factor]')
  const { DATABASE_URL, DATA_DIR } = readEnvironment()
  if (!DATABASE_URL && !existsSync(join(DATA_DIR, 'postgres'))) throw new Error(`There is no database in ${DATA_DIR}.`)
  const embedded = DATABASE_URL ? null : await startEmbedded({ dataDir: DATA_DIR })
  const database = await connect(embedded?.connection ?? fromUrl(DATABASE_URL ?? ''), 2)
  try {
    process.stdout.write(await resetPassword(database, username, values['second-factor'] === true))
  } finally {
    await database.close()
    await embedded?.stop()
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`\n${error instanceof Error ? error.message || String(error.cause ?? error) : String(error)}\n`)
  process.exitCode = 1
})
