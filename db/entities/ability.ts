import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The index that routing reads: which channel serves which model in which group. */
export const Ability = defineEntity({
  name: 'Ability',
  tableName: 'abilities',
  properties: {
    group: p.text().primary(),
    model: p.text().primary(),
    channelId: p.integer().primary().index(),
    enabled: p.boolean().default(true),
    priority: p.integer().default(0),
    weight: p.integer().default(0),
    tag: p.text().default(''),
  },
})

export type Ability = InferEntity<typeof Ability>
