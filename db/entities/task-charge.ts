import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The charge of a stored task, until it is known to be committed or given up. */
export const TaskCharge = defineEntity({
  name: 'TaskCharge',
  tableName: 'task_charges',
  properties: {
    requestId: p.text().primary(),
    /** `drawing` or `music`. */
    kind: p.text(),
    taskId: p.integer(),
    /** As the ledger takes it. */
    row: p.json(),
  },
})

export type TaskCharge = InferEntity<typeof TaskCharge>
