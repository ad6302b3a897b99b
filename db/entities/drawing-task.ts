import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const DrawingTask = defineEntity({
  name: 'DrawingTask',
  tableName: 'drawing_tasks',
  indexes: [
    { properties: ['userId', 'id'] },
    { name: 'drawing_tasks_unfinished_index', properties: ['polledAt'], where: "progress <> '100%'" },
  ],
  properties: {
    id: p.integer().primary().autoincrement(),
    code: p.integer().default(0),
    userId: p.integer(),
    tokenId: p.integer().default(0),
    action: p.text(),
    mjId: p.text().default('').index(),
    prompt: p.text().default(''),
    promptEn: p.text().default(''),
    description: p.text().default(''),
    state: p.text().default(''),
    submittedAt: p.datetime().nullable(),
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    imageUrl: p.text().default(''),
    status: p.text().default(''),
    progress: p.text().default('0%'),
    failReason: p.text().default(''),
    channelId: p.integer().default(0),
    quota: p.bigint('number').defaultRaw('0'),
    buttons: p.json().nullable(),
    properties: p.json().nullable(),
    /** Of the call that submitted it; its charge is found and given back by it. */
    requestId: p.text().default(''),
    /** Stored, but whether the charge was committed is not known yet. */
    chargePending: p.boolean().default(false),
    /** The key it was sent with: the upstream knows the task by that one only. */
    keyHmac: p.text().default(''),
    /** `fast`, `relax`, `turbo`, or empty. */
    mode: p.text().default(''),
    customId: p.text().default(''),
    botType: p.text().default(''),
    videoUrl: p.text().default(''),
    videoUrls: p.json().nullable(),
    polledAt: p.datetime().nullable(),
  },
})

export type DrawingTask = InferEntity<typeof DrawingTask>
