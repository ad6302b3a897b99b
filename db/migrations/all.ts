import { readFileSync } from 'node:fs'
import { Migration } from '@mikro-orm/migrations'
import { briefLockWait } from '../brief-locks.ts'
import { UsernameLikeness } from './0025-username-likeness.ts'

/** A forward-only migration whose statements stand in the SQL file of its name. */
const fromFile = (name: string) => ({
  name,
  class: class extends Migration {
    override up(): void {
      this.addSql(`set local lock_timeout = '${briefLockWait}'`)
      this.addSql(readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8'))
    }
  },
})

export const migrationsList = [
  fromFile('0001-tables'),
  fromFile('0002-ledger'),
  fromFile('0003-task-columns'),
  fromFile('0004-jobs-and-notifications'),
  fromFile('0007-ledger-renew'),
  fromFile('0010-settled-calls'),
  fromFile('0020-channel-revisions'),
  { name: '0025-username-likeness', class: UsernameLikeness },
  fromFile('0026-release-in-lock-order'),
  fromFile('0030-audit-log'),
  fromFile('0031-oauth-states'),
  fromFile('0035-second-factor'),
  fromFile('0038-audit-filters'),
  fromFile('0039-unread-messages'),
  fromFile('0041-payments'),
  fromFile('0042-orders-of-credit'),
  fromFile('0045-spend-caps'),
  fromFile('0046-retired-token-keys'),
  fromFile('0049-buying-prices'),
  fromFile('0050-price-changes'),
  fromFile('0053-failures-hourly'),
  fromFile('0055-oidc-issuers'),
  fromFile('0056-user-search'),
  fromFile('0065-channel-cooldowns'),
  fromFile('0066-channel-search'),
  fromFile('0080-local-responses'),
  fromFile('0090-ledger-step'),
  fromFile('0091-plans'),
  fromFile('0092-ledger-corrections'),
  fromFile('0100-leases'),
  fromFile('0110-usage-rollup'),
  fromFile('0111-log-search'),
  fromFile('0130-plan-prices'),
  fromFile('0150-nodes'),
  fromFile('0160-rebate-shares'),
  fromFile('0161-user-short-search'),
  fromFile('0170-conversations'),
  fromFile('0180-usage-by-hour'),
  fromFile('0191-early-events-and-plan-notices'),
  fromFile('0192-message-batches'),
  fromFile('0193-ledger-fewer-statements'),
  fromFile('0194-usage-totals'),
  fromFile('0200-channel-proxies'),
  fromFile('0201-stored-response-models'),
  fromFile('0202-failures-by-group'),
  fromFile('0203-node-processes'),
  fromFile('0204-token-name-hours'),
  fromFile('0210-node-addresses'),
  fromFile('0211-late-charges'),
  fromFile('0212-settled-calls-since'),
  fromFile('0213-usage-by-hour-models'),
  fromFile('0214-brief-locks-of-partitions'),
  fromFile('0215-token-name-hours-once-more'),
  fromFile('0216-plans-of-locked-users'),
  fromFile('0217-costs-of-leased-calls'),
  fromFile('0218-months-in-default'),
  fromFile('0219-late-refunds'),
  fromFile('0220-balance-currency'),
  fromFile('0221-leased-charges-set-aside'),
  fromFile('0222-names-of-a-call'),
  fromFile('0223-disputed-parts'),
  fromFile('0224-stored-conversations'),
  fromFile('0225-task-charges'),
  fromFile('0226-current-zone-names'),
  fromFile('0227-remaining-holds'),
]
