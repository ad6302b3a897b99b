import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** How often somebody was notified of something of one kind since `windowAt`. */
export const NotificationCount = defineEntity({
  name: 'NotificationCount',
  tableName: 'notification_counts',
  properties: {
    userId: p.integer().primary(),
    type: p.text().primary(),
    windowAt: p.datetime().defaultRaw('now()'),
    count: p.integer().default(1),
  },
})

export type NotificationCount = InferEntity<typeof NotificationCount>
