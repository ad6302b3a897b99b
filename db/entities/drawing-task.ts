import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const DrawingTask = defineEntity({
  name: 'DrawingTask',
  tableName: 'drawing_tasks',
  indexes: [{ properties: ['userId', 'id'] }],
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
  },
})

export type DrawingTask = InferEntity<typeof DrawingTask>
