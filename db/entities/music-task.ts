import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A job of the generic task frame (platform and action); music is its first platform. */
export const MusicTask = defineEntity({
  name: 'MusicTask',
  tableName: 'music_tasks',
  indexes: [
    { properties: ['userId', 'id'] },
    { name: 'music_tasks_unfinished_index', properties: ['polledAt'], where: "progress <> '100%'" },
  ],
  properties: {
    id: p.integer().primary().autoincrement(),
    taskId: p.text().default('').index(),
    platform: p.text().default('suno'),
    userId: p.integer(),
    tokenId: p.integer().default(0),
    channelId: p.integer().default(0),
    quota: p.bigint('number').defaultRaw('0'),
    action: p.text(),
    status: p.text().default('NOT_START'),
    failReason: p.text().default(''),
    submittedAt: p.datetime().nullable(),
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    progress: p.text().default('0%'),
    properties: p.json().nullable(),
    data: p.json().nullable(),
    /** Of the call that submitted it; its charge is found and given back by it. */
    requestId: p.text().default(''),
    /** Stored, but whether the charge was committed is not known yet. */
    chargePending: p.boolean().default(false),
    /** The key it was sent with: the upstream knows the task by that one only. */
    keyHmac: p.text().default(''),
    polledAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
})

export type MusicTask = InferEntity<typeof MusicTask>
