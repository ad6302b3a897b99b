import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A mailed or printed secret: e-mail verification, password reset, first setup. Only its hash is kept. */
export const OneTimeCode = defineEntity({
  name: 'OneTimeCode',
  tableName: 'one_time_codes',
  properties: {
    purpose: p.text().primary(),
    /** Normalised e-mail address, or "" where there is one code only. */
    subject: p.text().primary(),
    codeHash: p.text(),
    attempts: p.integer().default(0),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
})

export type OneTimeCode = InferEntity<typeof OneTimeCode>
