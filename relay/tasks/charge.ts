import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '#core/errors.ts'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import type { TaskReceipt } from '#core/pricing/receipt.ts'
import { taskReceipt } from '#core/pricing/tasks.ts'
import { emptyUsage } from '#core/usage.ts'
import { costOfCall } from '#core/pricing/attempt-costs.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import { markCharge } from '#features/tasks/service/charges.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { attemptKeys, attemptRecord, callColumns, usageColumns, userGroupKeys } from '#relay/billing/log-row.ts'
import type { TaskCall } from './call.ts'

const receiptOf = ({ action, terms }: TaskCall): TaskReceipt => taskReceipt({ action, ...terms })

/** What an accepted task costs, which is also what is set aside for it. */
export const quotaOf = (call: TaskCall): number => quotaOfReceipt(receiptOf(call))

/** Remembers the result of an answered attempt. */
export function recordAnswer({ attempts, attempt }: AttemptPlan, answer: { status: number; sentAt: number }): void {
  attempts.push(attemptRecord(attempt, { status: answer.status, ms: performance.now() - answer.sentAt }))
}

/** A task as its log row names it. */
type Named = {
  /** The upstream's. */
  taskId: string
  /** What goes behind the documented sentence. */
  suffix: string
  /** Further keys of the log row. */
  other: Record<string, unknown>
}

type Stored = Parameters<typeof markCharge>[1]

/**
 * Charges an accepted task that is stored, before its caller is answered.
 * @throws {DomainError} relay.unavailable
 */
export async function chargeTask(services: RelayServices, task: Stored, charge: ChargeRow): Promise<void> {
  try {
    await services.ledger.settle(charge, 'give-up')
  } catch (error) {
    if (!(error instanceof SettleFailed)) throw error
    if (!(await mark(services, task, null))) void forget(services, task)
    throw new DomainError('relay.unavailable', {}, { cause: error })
  }
  await mark(services, task, charge.quota)
}

/** Where this fails, the next round of asking finds out by the hold. */
const mark = (services: RelayServices, task: Stored, charged: number | null): Promise<boolean> =>
  markCharge(services, task, charged).then(
    () => true,
    (error: unknown) => {
      services.log.warn({ err: error, task: task.id }, 'the charge of a task could not be marked')
      return false
    },
  )

/**
 * Goes on saying that a charge was given up, as the ledger does. If this process ends before the database has received it from either,
 * another process makes the charge.
 */
async function forget(services: RelayServices, task: Stored): Promise<void> {
  for (let pause = 100; ; pause = Math.min(pause * 2, 5000)) {
    await delay(pause)
    if ((await mark(services, task, null)) || services.ledger.openCalls() === 0) return
  }
}

/** The charge of a task that an upstream has accepted. */
export function chargeOfTask(
  services: RelayServices,
  call: TaskCall,
  { plan, task }: { plan: AttemptPlan; task: Named },
): ChargeRow {
  const { attempt, attempts } = plan
  const { price, groupRatio } = call.terms
  const receipt = receiptOf(call)
  const cost = costOfCall({ attempt, at: call.receivedAt }, attempts, receipt)
  const { dropped: losses = [] } = call
  return {
    id: call.id,
    ...callColumns(call, attempt),
    ...usageColumns(emptyUsage, call.startedAt),
    quota: quotaOf(call),
    counted: true,
    log: services.options.get('LogConsumeEnabled'),
    content: `模型固定价格 ${price.modelPrice.toFixed(2)}，分组倍率 ${groupRatio.toFixed(2)}，操作 ${call.action}${task.suffix}`,
    firstTokenMs: null,
    isStream: false,
    other: {
      model_price: price.modelPrice,
      group_ratio: groupRatio,
      ...userGroupKeys(services, call, groupRatio),
      ...attemptKeys(attempt, attempts, { cost: cost.info }),
      task_id: task.taskId,
      ...task.other,
      ...call.session,
      ...(losses.length > 0 ? { losses } : {}),
      receipt,
    },
    ...cost.columns,
  }
}
