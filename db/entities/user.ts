import type { Language } from '#core/errors.ts'
import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a person chose on the settings page; stored as one JSON value because the wire format hands it around whole. */
export type UserSetting = {
  notify_type: 'email' | 'webhook'
  /** Absent: the site's counts, whatever it is at the time. */
  quota_warning_threshold?: number
  webhook_url?: string
  /** Encrypted at rest. */
  webhook_secret?: string
  notification_email?: string
  accept_unset_model_ratio_model: boolean
  show_ip_in_logs: boolean
}

export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.integer().primary().autoincrement(),
    username: p.text().unique(),
    /** One form for all names that look alike; null where two of them were there before it was kept. */
    usernameLikeness: p.text().nullable().unique(),
    displayName: p.text().default(''),
    /** argon2id; null for accounts that only ever signed in through a provider. */
    passwordHash: p.text().nullable(),
    role: p.smallint().default(1),
    status: p.smallint().default(1),
    email: p.text().default(''),
    /** Trimmed and lower-cased; unique, so one address belongs to one account. */
    emailNormalized: p.text().nullable().unique(),
    githubId: p.text().nullable().unique(),
    /** The subject, which one issuer gives to one person; another issuer may give the same. */
    oidcId: p.text().nullable(),
    oidcIssuer: p.text().default(''),
    wechatId: p.text().nullable().unique(),
    telegramId: p.text().nullable().unique(),
    linuxDoId: p.text().nullable().unique(),
    /** SHA-256 of the system access token. */
    accessTokenHash: p.text().nullable().unique(),
    quota: p.bigint('number').defaultRaw('0'),
    usedQuota: p.bigint('number').defaultRaw('0'),
    requestCount: p.bigint('number').defaultRaw('0'),
    group: p.text().default('default'),
    affCode: p.text().nullable().unique(),
    affCount: p.integer().default(0),
    affQuota: p.bigint('number').defaultRaw('0'),
    affHistoryQuota: p.bigint('number').defaultRaw('0'),
    inviterId: p.integer().default(0),
    setting: p.json().$type<UserSetting>().nullable(),
    /** Mails and notices are written in it; empty until the console said one. */
    language: p.text().$type<Language | ''>().default(''),
    lastCheckInAt: p.datetime().nullable(),
    quotaWarnedAt: p.datetime().nullable(),
    /** Set while the initial password has not been replaced, so that the login can say so. */
    mustChangePassword: p.boolean().default(false),
    /** Kept by a trigger, so that calls without caps look no further. */
    hasSpendCaps: p.boolean().default(false),
    /** Has an active subscription; kept by a trigger too. */
    hasPlan: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    deletedAt: p.datetime().nullable(),
  },
  uniques: [{ properties: ['oidcIssuer', 'oidcId'] }],
})

export type User = InferEntity<typeof User>
