import { randomBytes } from 'node:crypto'
import { type EntityManager, sql, UniqueConstraintViolationException } from '@mikro-orm/postgresql'
import { DomainError, toDomainError } from '#core/errors.ts'
import { formatQuota } from '#core/quota.ts'
import { refusalOf } from '#core/refusal-of.ts'
import { roles } from '#core/roles.ts'
import { logType, userStatus } from '#core/statuses.ts'
import { OneTimeCode } from '#db/entities/one-time-code.ts'
import { SetupRecord } from '#db/entities/setup-record.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../audit/service.ts'
import { hashPassword } from '../auth/password.ts'
import { startSession } from '../auth/session.ts'
import type { Deps, Services } from '../deps.ts'
import { grant } from '../ledger/service.ts'
import { setOptionsWithin } from '../options/service.ts'
import { sha256 } from '../secrets/service.ts'
import { withTakenErrors, usernameColumns } from '../users/service/taken.ts'
import { beginFirstSteps } from './checklist.ts'
import { rootAccount, type Setup } from './schema.ts'

const purpose = 'setup'
const tokenDays = 30
const rootQuota = 100_000_000

/** Passwords that everybody tries first; whoever sets up with one is reminded at every login until it is changed. */
const defaultPasswords = ['12345678', '123456789', '1234567890', 'password', 'admin123', 'root1234', '123456123456']

const isDefaultPassword = (username: string, password: string): boolean =>
  [...defaultPasswords, username.toLowerCase()].includes(password.toLowerCase())

const rootExists = async (em: EntityManager): Promise<boolean> => (await em.count(User, { role: roles.root })) > 0

/** Done stays done, so only the open state is asked of the database again. */
const known = new WeakSet<Services['database']>()

export async function isSetUp({ database }: Pick<Services, 'database'>): Promise<boolean> {
  if (known.has(database)) return true
  const done = (await database.orm.em.fork().count(SetupRecord)) > 0
  if (done) known.add(database)
  return done
}

export async function getSetup(deps: Deps) {
  if (await isSetUp(deps)) return { done: true, rootExists: false, databaseType: '', tokenRequired: false } as const
  return {
    done: false,
    rootExists: await rootExists(deps.em),
    databaseType: 'postgres',
    tokenRequired: !deps.client.loopback,
  } as const
}

/**
 * One transaction makes the one root: the setup record has a fixed id, so a second attempt ends at the first line. Its maker is signed in.
 * @throws {DomainError} setup.already_done, setup.forbidden, setup.failed
 */
export async function setUp(deps: Deps, input: Setup): Promise<void> {
  if (await isSetUp(deps)) throw new DomainError('setup.already_done')
  if (!deps.client.loopback) await checkToken(deps.em, input.token)
  try {
    await withTakenErrors(() => deps.em.transactional((em) => setUpWithin({ ...deps, em }, input)))
  } catch (error) {
    if (error instanceof DomainError) throw error
    if (error instanceof UniqueConstraintViolationException && error.message.includes('setup_records')) {
      throw new DomainError('setup.already_done', {}, { cause: error })
    }
    throw new DomainError('setup.failed', {}, { cause: error })
  }
  await deps.options.reload()
}

async function setUpWithin(deps: Deps, input: Setup): Promise<void> {
  const { em } = deps
  await em.insert(SetupRecord, { id: 1, version: deps.version, initializedAt: deps.ambient.now() })
  const founder = (await rootExists(em)) ? null : await makeRoot(deps, input)
  const scope = { ...deps, actor: founder }
  const mode = { SelfUseModeEnabled: input.selfUseModeEnabled, DemoSiteEnabled: input.demoSiteEnabled }
  await recordAct(scope, { action: 'site.set_up', targetType: 'site', targetId: 0, after: mode })
  await setOptionsWithin(scope, {
    SelfUseModeEnabled: String(input.selfUseModeEnabled),
    DemoSiteEnabled: String(input.demoSiteEnabled),
  })
  await em.nativeDelete(OneTimeCode, { purpose })
  await beginFirstSteps(deps)
  if (founder) await startSession(deps, founder.id)
}

async function makeRoot(deps: Deps, input: Setup): Promise<{ id: number; username: string }> {
  const parsed = rootAccount.safeParse(input)
  if (!parsed.success) {
    throw toDomainError({ code: refusalOf(parsed.error.issues) ?? 'input.invalid', params: { detail: 'username' } })
  }
  const { username, password } = parsed.data
  const id = await deps.em.insert(User, {
    ...usernameColumns(username),
    displayName: 'Root User',
    passwordHash: await hashPassword(password),
    role: roles.root,
    status: userStatus.active,
    group: 'default',
    affCode: deps.ambient.newId(4),
    mustChangePassword: isDefaultPassword(username, password),
  })
  const display = {
    quotaPerUnit: deps.options.get('QuotaPerUnit'),
    inCurrency: deps.options.get('DisplayInCurrencyEnabled'),
  }
  await grant(deps.em, {
    kind: 'setup',
    key: String(id),
    userId: id,
    amount: rootQuota,
    log: { type: logType.system, username, content: `系统初始化赠送 ${formatQuota(rootQuota, display)}` },
  })
  return { id, username }
}

/** Only who can read what the first start printed may set up from afar. */
async function checkToken(em: EntityManager, token: string): Promise<void> {
  const fits =
    token !== '' &&
    (await em.count(OneTimeCode, { purpose, codeHash: sha256(token), expiresAt: { $gt: sql.now() } })) > 0
  if (!fits) throw new DomainError('setup.forbidden')
}

/**
 * The token for the address that a start prints, or null once set up. Several machines may start at once, so each start's
 * token counts until one of them was used.
 */
export async function ensureSetupToken(services: Pick<Services, 'database' | 'ambient'>): Promise<string | null> {
  if (await isSetUp(services)) return null
  const token = randomBytes(24).toString('base64url')
  const codeHash = sha256(token)
  const now = services.ambient.now()
  await services.database.orm.em.fork().insert(OneTimeCode, {
    purpose,
    subject: codeHash.slice(0, 16),
    codeHash,
    createdAt: now,
    expiresAt: new Date(now.getTime() + tokenDays * 86_400_000),
  })
  return token
}

/** A database that has a root but no record (made by hand or by the demo world) counts as set up. */
export async function recordSetupIfRootExists(
  services: Pick<Services, 'database' | 'version' | 'ambient'>,
): Promise<void> {
  if (await isSetUp(services)) return
  const em = services.database.orm.em.fork()
  if (!(await rootExists(em))) return
  await em
    .getConnection()
    .execute(
      'insert into setup_records (id, version, initialized_at) values (1, ?, ?) on conflict (id) do nothing',
      [services.version, services.ambient.now()],
      'run',
    )
}
