import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FailedCharge } from '#db/entities/failed-charge.ts'
import { Grant } from '#db/entities/grant.ts'
import { Hold } from '#db/entities/hold.ts'
import { Lease } from '#db/entities/lease.ts'
import { SettledCall } from '#db/entities/settled-call.ts'
import { SpendCap } from '#db/entities/spend-cap.ts'
import { SpendCapBucket } from '#db/entities/spend-cap-bucket.ts'
import { Subscription } from '#db/entities/subscription.ts'
import { SubscriptionCharge } from '#db/entities/subscription-charge.ts'
import { UsageHourly } from '#db/entities/usage-hourly.ts'
import type { ReserveVerdict } from '#features/ledger/charge-row.ts'
import { ledgerLimits } from '#features/ledger/limits.ts'
import { root } from '../steps.ts'
import { type Blocks, code, table } from './markdown.ts'

const tables = [
  { entity: Hold, what: 'what is set aside for a call; released ones are kept for a day' },
  { entity: Lease, what: 'what a process may reserve for the calls of a token in memory; it changes no balance' },
  { entity: Grant, what: 'every other change of a balance, once for each kind and key; never deleted' },
  {
    entity: UsageHourly,
    what: 'sums for dashboards and totals, updated in the transaction of the charge, also when logging is off',
  },
  { entity: SettledCall, what: 'ids of charges of the last hour at least, so that one sent again is not booked again' },
  { entity: SpendCap, what: 'how much a user or a token may spend, or a subscription pay, within a window' },
  { entity: SpendCapBucket, what: 'what was spent and is held under a cap, by pieces of its window' },
  { entity: Subscription, what: 'a plan that a user has bought, which pays for calls of its models' },
  {
    entity: SubscriptionCharge,
    what: 'what a subscription paid for which call, until nothing can be refunded any more',
  },
  { entity: FailedCharge, what: 'charges that the database refused, until an operator decides' },
]

type Described = { meta: { tableName: string; properties: Record<string, { fieldNames?: string[] }> } }

const columnsOf = (entity: unknown): string =>
  Object.keys((entity as Described).meta.properties)
    .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    .map(code)
    .join(', ')

const tableRows = () =>
  tables.map(({ entity, what }) => [code((entity as unknown as Described).meta.tableName), what, columnsOf(entity)])

const functions: Readonly<Record<string, string>> = {
  ledger_reserve: 'takes or raises holds, each with its verdict',
  ledger_mark_tokens: 'sets tokens to exhausted, or back to enabled, by what is left and held',
  ledger_settle: 'ends holds: charge, counters, log row, hourly sums; or gives them back',
  ledger_act: 'all of a batch in one commit: ends, changes of leases, begins, new leases',
  ledger_step: 'ends holds and takes others, in one commit',
  ledger_renew: 'the same for one hold and its next: for nodes of the version before',
  ledger_release_node: 'gives back every open hold of a dead process',
  ledger_clock: 'the moment that decides which window of a spend cap is open',
  ledger_calendar_start: 'when the day, week or month of a moment, or a later one, begins in a zone',
  ledger_cap_bucket: 'the piece of a rolling window, or the calendar window, that a moment is in',
  ledger_cap_spent: 'what a window has, charged and held',
  ledger_cap_turn: 'when so much of a window comes free',
  ledger_cap_covers: 'whether a spend cap counts a model',
  ledger_forget_buckets: 'removes what no window reaches any more',
  ledger_plan_for: 'the subscription that pays for a call, and what its windows leave',
  ledger_plan_window: 'the window of a subscription that refuses a call',
  ledger_count_plan: 'counts in the windows of a subscription',
  ledger_charge_plan: 'books what a subscription pays for a call',
  ledger_refund_plan: 'gives what a subscription paid for a call back to its windows',
  ledger_expire_plans: 'ends subscriptions whose time is over',
  ledger_settled_slot: 'the hour that an id of a settled call is kept under',
  ledger_forget_settled: 'empties the oldest hours of settled ids',
  ledger_was_settled: 'whether a charge was committed, as far as that is remembered',
  ledger_outcome: 'what became of a charge that was sent long ago, where anything still shows it',
  ledger_settle_late: 'charges a call that may have been charged long ago, where it can tell that it was not',
  ledger_set_aside: 'keeps a charge that cannot be booked, and its hold open',
  ledger_resolve_failed_charge: 'books such a charge at what an operator decides; 0 gives everything back',
}

/** Every function of the ledger that the migrations make. */
function functionRows(): string[][] {
  const made = new Set<string>()
  for (const path of globSync('db/migrations/*.sql', { cwd: root }).toSorted()) {
    const source = readFileSync(join(root, path), 'utf8')
    for (const [, name = ''] of source.matchAll(/create (?:or replace )?function (ledger_\w+)/g)) made.add(name)
  }
  return [...made].map((name) => {
    const what = functions[name]
    if (what === undefined) throw new Error(`${name} needs a line in scripts/reference/ledger.ts`)
    return [code(name), what]
  })
}

/** The compiler keeps it complete. */
const verdicts: Record<ReserveVerdict, [when: string, effect: string]> = {
  ok: ['taken or raised', ''],
  user_missing: ['the user is gone', 'relay.user_unavailable'],
  token_missing: ['the token is gone', 'relay.token_invalid'],
  user_insufficient: ['plan and balance do not cover it', 'relay.user_quota_insufficient, relay.user_quota_empty'],
  token_insufficient: ['what the token may spend does not cover it', 'relay.token_quota_insufficient'],
  cap_reached: [
    'what a spend cap leaves of its window does not cover it',
    'relay.token_spend_cap_reached, relay.user_spend_cap_reached',
  ],
  plan_spent: ['what the windows of a plan that keeps the balance out leave does not cover it', 'relay.plan_spent'],
  token_exhausted: ['nothing is left of the token and no other hold of it is open', 'relay.token_exhausted'],
}

const limits: Record<keyof typeof ledgerLimits, string> = {
  largestBatch: 'items of one transaction',
  mostWaiting: 'items that wait in one queue; more are refused at once (503)',
  mostLockedPerUser: 'items of one user that wait for a row somebody keeps locked',
  reserveWaitMs: 'milliseconds a reservation waits for its turn, then 503',
  settleDeadlineMs: 'milliseconds a charge may take while its caller waits, then 503',
  leaseFromCalls: 'reservations of a token in a second, and charges seen of it, from which on it is leased for',
  leaseCalls: 'recent charges of the token that balance and quota have to hold for a lease',
  leaseShare: 'times the lease that they have to hold, too',
  leaseSeconds: 'seconds of recent spending that a lease covers, beside twice what is under way',
  leaseIdleMs: 'milliseconds without use after which a lease goes back',
  leasePauseMs: 'milliseconds nothing is leased of a user or token whose leases were given back',
  mostRefusals: 'refusals by the database until a charge is set aside; the last is sent without its texts',
}

export const ledgerBlocks: Blocks = {
  limits: () =>
    table(
      ['limit', 'of'],
      (Object.keys(limits) as (keyof typeof limits)[]).map((name) => [String(ledgerLimits[name]), limits[name]]),
    ),
  tables: () => table(['table', 'holds', 'columns'], tableRows()),
  functions: () => table(['function', 'what it does'], functionRows()),
  verdicts: () =>
    table(
      ['verdict', 'when', 'refusal'],
      Object.entries(verdicts).map(([name, [when, effect]]) => [code(name), when, effect]),
    ),
}
