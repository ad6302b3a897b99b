import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import type { Page } from '#core/paging.ts'
import { logType, redemptionStatus } from '#core/statuses.ts'
import { Redemption } from '#db/entities/redemption.ts'
import { RedemptionUse } from '#db/entities/redemption-use.ts'
import { requireBotCheck } from '../auth/bot-check.ts'
import type { Context, UserDeps } from '../deps.ts'
import { actOnce } from '../idempotency/service.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { bookRebate, oweRebate } from '../rebates/service.ts'
import { countGuess } from './guess-limit.ts'
import type { ListUses, Redeem } from './schema.ts'
import type { UseView } from './view.ts'

type Redeemed = { quota: number; isGift: boolean }

/**
 * Turns a code into quota: the use, its grant, its log row and what the inviter is owed in one transaction, once for an
 * `Idempotency-Key`. Cloudflare, which is asked for the bot check, may take its time: it is asked before.
 * @throws {DomainError} redeem.unknown and the other refusals `redeem.*`, rate_limited
 */
export async function redeem(deps: UserDeps & Pick<Context, 'idempotencyKey'>, input: Redeem): Promise<Redeemed> {
  const { em, actor, idempotencyKey: key } = deps
  let takeBack = async (): Promise<void> => {}
  const admit = async () => {
    await requireBotCheck(deps, input.turnstile, 'every-time')
    takeBack = await countGuess(deps)
  }
  const act = (inner: EntityManager) => useCode({ ...deps, em: inner }, input.key)
  try {
    const { source, ...redeemed } = key
      ? await actOnce(deps, { userId: actor.id, path: 'redemptions.redeem', key, input, admit }, act)
      : await admit().then(() => em.transactional(act))
    await takeBack()
    await bookRebate(deps, source)
    return redeemed
  } catch (error) {
    // Whoever knows a code that is spent has not guessed.
    if (!(error instanceof DomainError && error.code === 'redeem.unknown')) await takeBack()
    throw error
  }
}

type CodeRow = {
  id: number
  status: number
  quota: string
  is_gift: boolean
  max_uses: number
  used_count: number
  early: boolean | null
  late: boolean | null
}

async function useCode(deps: UserDeps, key: string) {
  const code = await lockCode(deps, key)
  checkRedeemable(code)
  await recordUse(deps, code)
  const quota = Number(code.quota)
  const source = {
    source: 'redemption',
    key: code.is_gift ? `${code.id}:${deps.actor.id}` : String(code.id),
  } as const
  const kind = code.is_gift ? '礼品码' : '兑换码'
  const booked = await grant(deps.em, {
    kind: source.source,
    key: source.key,
    userId: deps.actor.id,
    amount: quota,
    log: {
      type: logType.topUp,
      username: deps.actor.username,
      content: `通过${kind}充值 ${shownQuota(deps, quota)}，${kind} ID ${code.id}`,
      quota,
    },
  })
  if (!booked) throw new DomainError(code.is_gift ? 'redeem.used_by_you' : 'redeem.used')
  await oweRebate(deps, { ...source, userId: deps.actor.id, amount: quota })
  return { quota, isGift: code.is_gift, source }
}

/** One user after another: everything about a code is decided under its lock, by the database's clock. */
async function lockCode({ em, secrets }: UserDeps, key: string): Promise<CodeRow> {
  const sql = `select id, status, quota, is_gift, max_uses, used_count, valid_from > now() as early, valid_until < now() as late
    from redemptions where key_hash = ? and deleted_at is null for update`
  const [code]: CodeRow[] = await em
    .getConnection()
    .execute(sql, [secrets.hmac(key)], 'all', em.getTransactionContext())
  if (!code) throw new DomainError('redeem.unknown')
  return code
}

function checkRedeemable(code: CodeRow): void {
  if (code.early) throw new DomainError('redeem.not_yet_valid')
  if (code.late) throw new DomainError('redeem.expired')
  if (code.status === redemptionStatus.disabled) throw new DomainError('redeem.disabled')
  if (!code.is_gift && code.status !== redemptionStatus.unused) throw new DomainError('redeem.used')
  if (code.is_gift && code.max_uses !== -1 && code.used_count >= code.max_uses) throw new DomainError('redeem.used_up')
}

async function recordUse({ em, actor, ambient }: UserDeps, code: CodeRow): Promise<void> {
  const used: unknown[] = await em
    .getConnection()
    .execute(
      'insert into redemption_uses (redemption_id, user_id) values (?, ?) on conflict do nothing returning user_id',
      [code.id, actor.id],
      'all',
      em.getTransactionContext(),
    )
  if (used.length === 0) throw new DomainError(code.is_gift ? 'redeem.used_by_you' : 'redeem.used')
  const usedCount = code.used_count + 1
  const isLast = !code.is_gift || usedCount === code.max_uses
  await em.nativeUpdate(
    Redemption,
    { id: code.id },
    {
      usedCount,
      ...(isLast ? { status: redemptionStatus.used } : {}),
      ...(code.is_gift ? {} : { usedUserId: actor.id }),
      redeemedAt: ambient.now(),
    },
  )
}

/** What the user has redeemed, newest first. */
export async function listOwnUses({ database, em, actor }: UserDeps, input: ListUses): Promise<Page<UseView>> {
  const { rows } = await database.pool.query<{
    redemption_id: number
    name: string
    quota: string
    is_gift: boolean
    used_ms: string
  }>(
    `select u.redemption_id, r.name, r.quota, r.is_gift, extract(epoch from u.used_at) * 1000 as used_ms
     from redemption_uses u join redemptions r on r.id = u.redemption_id where u.user_id = $1
     order by u.used_at desc, u.redemption_id desc limit $2 offset $3`,
    [actor.id, input.pageSize, (input.page - 1) * input.pageSize],
  )
  return {
    items: rows.map((row) => ({
      redemptionId: row.redemption_id,
      name: row.name,
      quota: Number(row.quota),
      isGift: row.is_gift,
      usedAt: new Date(Number(row.used_ms)),
    })),
    // A page behind the last has no row that could say it.
    total: await em.count(RedemptionUse, { userId: actor.id }),
    page: input.page,
    pageSize: input.pageSize,
  }
}
