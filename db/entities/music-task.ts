import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A job of the generic task frame (platform and action); music is its first platform. */
export const MusicTask = defineEntity({
  name: 'MusicTask',
  tableName: 'music_tasks',
  indexes: [{ properties: ['userId', 'id'] }],
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
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
})

export type MusicTask = InferEntity<typeof MusicTask>
