import { z } from 'zod'
import { displayName, storedUsername, password, username } from '#core/account-fields.ts'
import { expectedFields } from '#core/expected.ts'
import { pageInput } from '#core/paging.ts'
import { refusal } from '#core/refusal.ts'
import { storableText } from '#core/storable-text.ts'

const userId = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)

/** Balances stay far inside what a double can count exactly. */
const quota = z.int().min(-1e15).max(1e15)

/** PostgreSQL's text has no NUL. */
const searchText = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\0]*$/)

const optionalPassword = z.union([z.literal('').transform(() => undefined), password]).optional()

export const updateAccount = z.object({
  username: storedUsername.optional(),
  displayName: displayName.optional(),
  password: optionalPassword,
  /** Asked for when the password changes. */
  currentPassword: z.string().max(200).optional(),
})
export type UpdateAccount = z.infer<typeof updateAccount>

export const removeAccount = z.object({ username: z.string().max(100) })

/** Neither NUL nor half a character, which no JSON of the database holds. */
const isStorable = (text: string): boolean => storableText(text) === text

const storedAddress = (longest: number, refused: ReturnType<typeof refusal>) =>
  z.string().trim().max(longest, refused).refine(isStorable, refused).default('')

export const settings = z
  .object({
    notifyType: z.enum(['email', 'webhook'], refusal('setting.notify_type_invalid')),
    /** Null: none of one's own. */
    quotaWarningThreshold: z
      .number(refusal('setting.threshold_invalid'))
      .positive(refusal('setting.threshold_invalid'))
      .max(1e15, refusal('setting.threshold_invalid'))
      .nullable()
      .default(null),
    webhookUrl: storedAddress(2048, refusal('setting.webhook_url_invalid')),
    /** Absent: the stored one stays. */
    webhookSecret: z.string().max(500).optional(),
    notificationEmail: storedAddress(100, refusal('setting.email_invalid')),
    acceptUnsetModelRatioModel: z.boolean().default(false),
    showIpInLogs: z.boolean().default(false),
  })
  .superRefine((value, context) => {
    if (value.notifyType === 'webhook' && URL.parse(value.webhookUrl)?.protocol !== 'https:') {
      context.addIssue({ code: 'custom', path: ['webhookUrl'], message: refusal('setting.webhook_url_invalid') })
    }
    if (value.notifyType === 'email' && value.notificationEmail !== '' && !value.notificationEmail.includes('@')) {
      context.addIssue({ code: 'custom', path: ['notificationEmail'], message: refusal('setting.email_invalid') })
    }
  })
export type Settings = z.infer<typeof settings>

export const chooseLanguage = z.object({ language: z.enum(['zh', 'en']) })
export type ChooseLanguage = z.infer<typeof chooseLanguage>

/** As the form has it, saved or not. */
export const testWebhook = z.object({
  webhookUrl: z
    .string()
    .trim()
    .max(2048, refusal('setting.webhook_url_invalid'))
    .refine((address) => URL.parse(address)?.protocol === 'https:', refusal('setting.webhook_url_invalid')),
  /** Absent: the stored one, where it belongs to this address. */
  webhookSecret: z.string().max(500).optional(),
})
export type TestWebhook = z.infer<typeof testWebhook>

export const checkIn = z.object({ turnstile: z.string().max(4096).default('') })

export const transferRewards = z.object({ quota: z.int().min(-1e15).max(1e15) })

/** Why somebody did something to somebody else. */
const reason = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\0]*$/)

/** What the list may be ordered by, under the names of its columns. */
export const userOrders = ['id', 'username', 'quota', 'used', 'calls', 'invited', 'created'] as const

export const listUsers = pageInput.extend({
  /** Part of username, e-mail or display name, or an id. */
  keyword: searchText.default(''),
  group: searchText.default(''),
  /** `living`: everybody but the deleted. */
  status: z.enum(['any', 'active', 'banned', 'living', 'deleted']).default('any'),
  /** 0: every role. */
  role: z.int().min(0).max(100).default(0),
  sort: z.enum(userOrders).default('id'),
  order: z.enum(['asc', 'desc']).default('desc'),
  /** Of the documented paths, which show balances with what open holds have set aside. */
  isDocumented: z.boolean().default(false),
})
export type ListUsers = z.infer<typeof listUsers>

export const byUserId = z.object({ id: userId })

export const createUser = z.object({
  username,
  displayName: displayName.default(''),
  password: z
    .string()
    .min(1, refusal('user.fields_missing'))
    .min(8, refusal('user.password_length'))
    .max(20, refusal('user.password_length')),
  /** New users are ordinary; a request for more is refused rather than ignored. */
  role: z.int().optional(),
})
export type CreateUser = z.infer<typeof createUser>

export const updateUser = z.object({
  id: userId,
  username: storedUsername.optional(),
  displayName: displayName.optional(),
  password: optionalPassword,
  group: z.string().trim().min(1).max(64).optional(),
  role: z.int().optional(),
  /** The balance wanted, with what calls under way have set aside; its difference to what is there at that moment is booked. */
  quota: quota.optional(),
  /** What to add to the balance, or with a minus to take away. The console sends this one. */
  quotaChange: quota.optional(),
  /** For the audit log. */
  reason: reason.default(''),
  expected: expectedFields,
})
export type UpdateUser = z.infer<typeof updateUser>

const userActions = ['enable', 'disable', 'promote', 'demote', 'delete'] as const
export const endSessions = z.object({ id: userId, reason: reason.default('') })
export const endSession = z.object({ id: userId, session: z.uuid(), reason: reason.default('') })
export type EndSession = z.infer<typeof endSession>

export const manageUser = z.object({
  id: userId,
  action: z.enum(userActions, refusal('user.action_unknown')),
  reason: reason.default(''),
})
export type ManageUser = z.infer<typeof manageUser>
