import { hash } from '@node-rs/argon2'
import type { Pool, PoolClient } from 'pg'
import { createSecrets, type Secrets } from '#features/secrets/service.ts'
import type { ConnectionOptions } from '#db/connection.ts'
import { connect } from '#db/orm.ts'
import { bookBalances } from './balances.ts'
import { seedChannels } from './channels.ts'
import { seedAudit } from './audit.ts'
import { seedMessages } from './messages.ts'
import { orderOrders, seedPlans } from './plans.ts'
import { seedTasks } from './tasks.ts'
import { seedPeople } from './people.ts'
import type { SeedContext } from './seed-context.ts'
import { seedRedemptions } from './redemptions.ts'
import { seedTokens } from './tokens.ts'
import { demoPaymentKey } from '../simulator/payments.ts'
import { createRandom } from './random.ts'
import { orderLogs, seedUsage } from './usage.ts'

export const demoPassword = 'demo-password'

export type DemoWorld = {
  /** False where the demo world was there already. */
  made: boolean
  /** Sign in with these and `demoPassword`. */
  logins: { username: string; role: string }[]
  /** An access token of root's, with `sk-`. */
  key: string
}

const logins = [
  { username: 'root', role: 'root' },
  { username: 'operator', role: 'admin' },
  { username: 'xiaochen', role: 'user' },
]

const mark = 'demo_world'
const rootKeyName = '演示令牌'

export const demoNotice = '这是一个演示站点：渠道连接的是本机的模拟供应商，数据可以随意修改。'

/**
 * A world to look at: people, channels on the simulated provider, a month of usage. Its ledger balances from the start.
 * Does nothing to a database that has it, and refuses one that other people use.
 */
export async function seed(
  connection: ConnectionOptions,
  given: { secretKey: string; upstreamUrl: string },
): Promise<DemoWorld> {
  const database = await connect(connection, 2)
  const secrets = createSecrets(given.secretKey)
  try {
    const made = await plantOnce(database.pool, { ...given, secrets })
    return { made, logins, key: await readKey(database.pool, secrets) }
  } finally {
    await database.close()
  }
}

async function plantOnce(pool: Pool, given: { upstreamUrl: string; secrets: Secrets }): Promise<boolean> {
  const db = await pool.connect()
  try {
    await db.query('begin')
    await db.query('select pg_advisory_xact_lock(7310)')
    const { rows } = await db.query<{ known: boolean; used: boolean }>(
      'select exists (select 1 from installation_facts where name = $1) as known, exists (select 1 from users) as used',
      [mark],
    )
    if (rows[0]?.known) {
      // The simulated provider may have moved to another port since.
      await moveChannels(db, given.upstreamUrl)
    } else if (rows[0]?.used) {
      throw new Error('this database has users of its own: the demo world goes into an empty one')
    } else {
      await plant({ ...given, db, random: createRandom(20), now: new Date() })
    }
    await db.query('commit')
    return !rows[0]?.known
  } catch (error) {
    await db.query('rollback')
    throw error
  } finally {
    db.release()
  }
}

async function plant(context: SeedContext): Promise<void> {
  const { db, upstreamUrl, now } = context
  await db.query('insert into installation_facts values ($1, $2)', [mark, upstreamUrl])
  await db.query('insert into setup_records (id, version, initialized_at) values (1, $1, $2)', ['demo', now])
  await seedOptions(context)
  const people = await seedPeople(context, await hash(demoPassword))
  const channels = await seedChannels(context)
  const tokens = await seedTokens(context, people, rootKeyName)
  const tasks = await seedTasks(context, { people, tokens })
  await seedUsage(context, { people, channels, tokens, tasks })
  await seedPlans(context, people)
  await seedRedemptions(context, people)
  await bookBalances(context, people)
  await orderLogs(context)
  await orderOrders(context)
  await seedMessages(context, people)
  await seedAudit(context, people)
}

async function seedOptions({ db, secrets, upstreamUrl }: SeedContext): Promise<void> {
  const options = {
    GroupRatio: JSON.stringify({ default: 1, vip: 0.8, research: 0.5 }),
    UserUsableGroups: JSON.stringify({ default: '默认分组', vip: '会员分组' }),
    Notice: demoNotice,
    QuotaForNewUser: '2500000',
    CheckInEnabled: 'true',
    LogErrorEnabled: 'true',
    DrawingEnabled: 'true',
    TaskEnabled: 'true',
    Chats: JSON.stringify([
      { 网页聊天: `${upstreamUrl}/media/chat.html#{"url":"{address}","key":"{key}"}` },
      { 'Cherry Studio': 'cherrystudio://providers/api-keys?v=1&data={address}|{key}' },
    ]),
    // The simulated provider plays the payment gateway too.
    PayAddress: upstreamUrl,
    EpayId: 'demo',
    EpayKey: secrets.encrypt(demoPaymentKey),
  }
  for (const option of Object.entries(options)) {
    await db.query('insert into options (key, value) values ($1, $2) on conflict (key) do nothing', option)
  }
}

async function moveChannels(db: PoolClient, upstreamUrl: string): Promise<void> {
  const { rows } = await db.query<{ value: string }>('select value from installation_facts where name = $1', [mark])
  const before = rows[0]?.value
  if (before === upstreamUrl) return
  await db.query('update channels set base_url = replace(base_url, $1, $2) where starts_with(base_url, $1)', [
    before,
    upstreamUrl,
  ])
  await db.query("update options set value = replace(value, $1, $2) where key in ('PayAddress', 'Chats')", [
    before,
    upstreamUrl,
  ])
  await db.query('update drawing_tasks set image_url = replace(image_url, $1, $2) where starts_with(image_url, $1)', [
    before,
    upstreamUrl,
  ])
  await db.query('update installation_facts set value = $2 where name = $1', [mark, upstreamUrl])
}

async function readKey(pool: Pool, secrets: Secrets): Promise<string> {
  const { rows } = await pool.query<{ key_encrypted: string }>(
    "select key_encrypted from tokens where name = $1 and user_id = (select id from users where username = 'root')",
    [rootKeyName],
  )
  return rows[0] ? `sk-${secrets.decrypt(rows[0].key_encrypted)}` : ''
}
