import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One setting as text; secrets are encrypted. */
export const Option = defineEntity({
  name: 'Option',
  tableName: 'options',
  properties: {
    key: p.text().primary(),
    value: p.text(),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
})

export type Option = InferEntity<typeof Option>
