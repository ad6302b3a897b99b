import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** How a process is doing, as it said last. */
export type NodeFigures = {
  callsUnderWay: number
  /** Reservations, charges and releases that wait for their turn. */
  ledgerQueue: number
  /** What bodies of requests and frames take. */
  bodyBytes: number
  /** Open circuit breakers. */
  cooldowns: number
  memoryBytes: number
  /** 99 in 100 turns of the event loop were at most so late since the row was written before. */
  loopDelayMs: number
  /** Connections to the database, and what waits for one. */
  connections: { open: number; idle: number; waiting: number }
  disk: { freeBytes: number; totalBytes: number } | null
}

/** A process that serves, or served until its row is cleared away. Its number is that of the holds it keeps. */
export const Node = defineEntity({
  name: 'Node',
  tableName: 'nodes',
  properties: {
    id: p.integer().primary().autoincrement(false),
    host: p.text(),
    pid: p.integer(),
    /** Distinguishes it from all processes that ever ran; null where the system does not say. See features/system/process-identity.ts. */
    process: p.text().nullable(),
    /** Where the database sees it; null over a unix socket. */
    address: p.text().nullable(),
    role: p.text(),
    version: p.text(),
    startedAt: p.datetime(),
    seenAt: p.datetime().defaultRaw('now()'),
    figures: p.json().$type<NodeFigures>().defaultRaw("'{}'"),
  },
})

export type Node = InferEntity<typeof Node>
