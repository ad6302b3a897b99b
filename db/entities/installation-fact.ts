import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What this installation must remember about itself, such as a text that proves the secret key. */
export const InstallationFact = defineEntity({
  name: 'InstallationFact',
  tableName: 'installation_facts',
  properties: { name: p.text().primary(), value: p.text() },
})

export type InstallationFact = InferEntity<typeof InstallationFact>
