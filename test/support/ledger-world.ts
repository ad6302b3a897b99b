import type { Pool, QueryConfig } from 'pg'
import { afterAll } from 'vitest'
import { createHotPool } from '#db/hot-pool.ts'
import { connect } from '#db/orm.ts'
import type { ChargeRow, ReserveResult } from '#features/ledger/charge-row.ts'
import { createLedger, type Ledger } from '#features/ledger/service.ts'
import { refundUndelivered } from '#features/ledger/refund.ts'
import { createDatabase } from './database.ts'
import { createFactories } from './factories.ts'
import { withStartLimit } from './start-limit.ts'
import { holdLock } from './held-lock.ts'

export type HeldCall = { id: string; userId: number; tokenId: number }

/** A database with ledgers on it as processes have them, and what their tests ask of it; the file of tests ends it. */
export const startLedgerWorld = withStartLimit(async function startLedgerWorld() {
  const testDatabase = await createDatabase()
  const database = await connect(testDatabase.connection, 20)
  const hot = createHotPool(testDatabase.connection, () => {})
  afterAll(async () => {
    await hot.end()
    await database.close()
    await testDatabase[Symbol.asyncDispose]()
  })
  const { pool } = database
  const make = createFactories({ pool, secretKey: 'the key of these tests', upstreamUrl: 'http://127.0.0.1:1' })
  const channelId = (await make.channel()).id
  let counter = 0
  const lessees: Ledger[] = []
  const figure = async (sql: string, values: unknown[]): Promise<number> =>
    Number((await pool.query<{ n: string | null }>(sql, values)).rows[0]?.n ?? 0)

  /** What the notices of a user do in processes. */
  const recall = async (userId: number): Promise<void> => {
    for (const ledger of lessees) ledger.returnLeases({ userId })
    await Promise.all(lessees.map((ledger) => ledger.leasesReturned()))
  }

  return {
    pool,
    em: () => database.orm.em.fork(),
    connection: testDatabase.connection,
    hot,
    make,
    channelId,
    newId: (): string => `call-${(counter += 1)}`,
    ledgerWith: (
      given: { pool?: Pool; nodeId?: number; leases?: { fromCalls: number; idleMs: number } } & Pick<
        Parameters<typeof createLedger>[0],
        'reserveWaitMs' | 'settleDeadlineMs' | 'runningTime' | 'onSetAside' | 'onError'
      > = {},
    ): Ledger => {
      const { pool: own = hot, nodeId = 1, leases, ...rest } = given
      const ledger = createLedger({
        pool: own,
        nodeId: () => nodeId,
        refund: (row) => refundUndelivered(database.orm.em.fork(), row),
        // A busy machine refuses nobody: tests of refusals for lack of time say how long is waited for.
        reserveWaitMs: 60_000,
        settleDeadlineMs: 60_000,
        ...(leases ? { leases: { mayLease: () => true, recall, ...leases } } : {}),
        ...rest,
      })
      if (leases) lessees.push(ledger)
      return ledger
    },
    /** No notice reaches this one any more, and nobody waits for it. */
    bury: (ledger: Ledger): void => void lessees.splice(lessees.indexOf(ledger), 1),
    chargeOf: (call: HeldCall & { quota: number } & Partial<ChargeRow>): ChargeRow => ({
      channelId,
      counted: true,
      log: true,
      content: '',
      username: 'someone',
      tokenName: 'token',
      modelName: 'gpt-4o',
      promptTokens: 10,
      completionTokens: 5,
      cachedTokens: 0,
      useTimeMs: 12,
      firstTokenMs: 5,
      isStream: false,
      group: 'default',
      clientIp: '',
      other: {},
      ...call,
    }),
    balanceOf: (userId: number) => figure('select quota as n from users where id = $1', [userId]),
    tokenOf: async (id: number): Promise<{ remain: number; used: number; status: number }> => {
      const { rows } = await pool.query('select * from tokens where id = $1', [id])
      return { remain: Number(rows[0]?.remain_quota), used: Number(rows[0]?.used_quota), status: rows[0]?.status }
    },
    heldBy: (userId: number) =>
      figure("select sum(amount) as n from holds where user_id = $1 and status = 'open'", [userId]),
    leasedOf: (userId: number) => figure('select sum(amount) as n from leases where user_id = $1', [userId]),
    leasesOf: (userId: number, nodeId: number) =>
      figure('select count(*) as n from leases where user_id = $1 and node_id = $2', [userId, nodeId]),
    openHolds: (userId: number) =>
      figure("select count(*) as n from holds where user_id = $1 and status = 'open'", [userId]),
    logsOf: (userId: number) => figure('select count(*) as n from logs where user_id = $1 and type = 2', [userId]),
    logRows: (id: string) => figure('select count(*) as n from logs where request_id = $1 and type = 2', [id]),
    lock: (sql: string, values?: unknown[]) => holdLock(pool, sql, values),
  }
})

export type LedgerWorld = Awaited<ReturnType<typeof startLedgerWorld>>

type Wanted = { userId: number; tokenId?: number; amount?: number; model?: string; count: number }

/** Two nodes on the database of a test, whose clock stands where the test puts it. */
export function createTwoNodes(world: () => LedgerWorld) {
  let nodes: Ledger[] = []
  const nodeAt = (index: number): Ledger => nodes[index % nodes.length] as Ledger
  return {
    prepare: () =>
      world().pool.query(`
        create table moved_clock (at timestamptz null);
        insert into moved_clock values (null);
        create or replace function ledger_clock() returns timestamptz language sql stable as
          $$ select coalesce((select at from moved_clock), now()) $$;`),
    restart: async (): Promise<void> => {
      nodes = [1, 2].map((nodeId) => world().ledgerWith({ nodeId }))
      await world().pool.query('update moved_clock set at = null')
    },
    moveClock: (at: string) => world().pool.query('update moved_clock set at = $1', [at]),
    nodeAt,
    /** So many at once, over both nodes; each with its call. */
    reserveAtOnce: ({ userId, tokenId = 0, amount = 100, model = 'gpt-4o', count }: Wanted) =>
      Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const call: HeldCall = { id: world().newId(), userId, tokenId }
          return { call, node: nodeAt(index), result: await nodeAt(index).reserve({ ...call, amount, model }) }
        }),
      ),
    /** What was spent of a cap, or of a window of a plan. */
    spentOf: async (capId: number | undefined): Promise<number> => {
      const { rows } = await world().pool.query(
        'select coalesce(sum(amount), 0) as n from spend_cap_buckets where cap_id = $1',
        [capId],
      )
      return Number(rows[0]?.n)
    },
  }
}

export const admitted = <Item extends { result: ReserveResult }>(items: Item[]): Item[] =>
  items.filter(({ result }) => result.verdict === 'ok')
export const verdicts = (items: { result: ReserveResult }[]): string[] =>
  [...new Set(items.map(({ result }) => result.verdict))].toSorted()

/** A pool on which some statements are carried out, or not, without anybody knowing. */
export const disconnectingPool = (
  pool: Pool,
  forgets: (query: QueryConfig) => 'before' | 'after' | null | undefined,
): Pool =>
  ({
    query: async (query: QueryConfig) => {
      const when = forgets(query)
      if (when === 'before') throw new Error('Connection terminated unexpectedly')
      const result = await pool.query(query)
      if (when === 'after') throw new Error('Connection terminated unexpectedly')
      return result
    },
  }) as unknown as Pool

/** Stands for whatever the database may have against one row: an index, a constraint, a trigger of the operator. */
export const refuseRows = (pool: Pool) =>
  pool.query(`
    create function refuse_row() returns trigger language plpgsql as $$
    begin
      if new.content = 'refused text' or new.model_name = 'refused-model' then raise exception 'this row is refused'; end if;
      return new;
    end $$;
    create trigger refuse_row before insert on logs for each row execute function refuse_row();`)
