import { z } from 'zod'

/**
 * The forms that clients of the documented paths rely on, written down by hand: what the product describes of itself
 * is no proof that it still answers what those clients read.
 */

export const text = z.string()
export const flag = z.boolean()
/** A number of an object; 0 is none. */
const id = z.int().min(0)
export const amount = z.int()
/** Seconds since 1970; 0 is never. Milliseconds would be far beyond. */
const seconds = z.union([z.literal(0), z.int().min(1_000_000_000).max(9_999_999_999)])
const milliseconds = z.union([z.literal(0), z.int().min(1_000_000_000_000)])
const time = z.iso.datetime().nullable()
const isJson = (value: string): boolean => {
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}
const jsonOrEmpty = text.refine((value) => value === '' || isJson(value), 'is no JSON')
/** Names with commas between them, and no spaces around them. */
const names = text.regex(/^$|^[^,\s][^,]*(,[^,\s][^,]*)*$/)
const progress = text.regex(/^$|^\d{1,3}%$/)

export const user = z.strictObject({
  id: id.min(1),
  username: text.min(1),
  password: z.literal(''),
  display_name: text,
  role: z.literal([1, 10, 100]),
  status: z.literal([1, 2, 3]),
  email: text,
  github_id: text,
  oidc_id: text,
  wechat_id: text,
  telegram_id: text,
  linux_do_id: text,
  verification_code: z.literal(''),
  access_token: z.null(),
  quota: amount,
  used_quota: amount,
  request_count: amount,
  group: text.min(1),
  aff_code: text,
  aff_count: amount,
  aff_quota: amount,
  aff_history_quota: amount,
  inviter_id: id,
  DeletedAt: time,
  setting: jsonOrEmpty,
  last_check_in_time: time,
})

/** Only who it is; every other key is there and empty. */
export const signedInUser = user.extend({
  email: z.literal(''),
  quota: z.literal(0),
  used_quota: z.literal(0),
  request_count: z.literal(0),
  aff_code: z.literal(''),
  aff_count: z.literal(0),
  setting: z.literal(''),
  DeletedAt: z.null(),
  last_check_in_time: z.null(),
})

export const token = z.strictObject({
  id: id.min(1),
  user_id: id.min(1),
  key: text.regex(/^[0-9A-Za-z]{48}$/),
  status: z.literal([1, 2, 3, 4]),
  name: text,
  created_time: seconds,
  accessed_time: seconds,
  expired_time: z.union([z.literal(-1), seconds]),
  remain_quota: amount,
  used_quota: amount,
  unlimited_quota: flag,
  model_limits_enabled: flag,
  model_limits: names,
  allow_ips: text.nullable(),
  group: text,
  rate_limit_enabled: flag,
  rate_limit_period: z.int(),
  rate_limit_count: z.int(),
  rate_limit_success: z.int(),
  DeletedAt: z.null(),
})

export const channelWithKey = z.strictObject({
  id: id.min(1),
  type: z.int().min(1),
  key: text,
  name: text,
  status: z.literal([1, 2, 3]),
  openai_organization: text.nullable(),
  test_model: text.nullable(),
  max_input_tokens: amount,
  base_url: text.nullable(),
  other: text,
  models: names,
  group: names,
  model_prefix: text.nullable(),
  tag: text.nullable(),
  model_mapping: jsonOrEmpty,
  status_code_mapping: jsonOrEmpty,
  setting: jsonOrEmpty.nullable(),
  param_override: jsonOrEmpty.nullable(),
  system_prompt: text.nullable(),
  priority: z.int(),
  weight: z.int().min(0),
  auto_ban: z.literal([0, 1]),
  created_time: seconds,
  test_time: seconds,
  response_time: z.int().min(0),
  balance: z.number(),
  balance_currency: text.nullable(),
  balance_updated_time: seconds,
  used_quota: amount,
  other_info: jsonOrEmpty,
})
export const channel = channelWithKey.extend({ key: z.literal('') })

export const ratio = z.number()
/** What a row says of a call: numbers are numbers, and a price of -1 says that it is priced by ratios. */
const callFacts = z.looseObject({
  model_price: ratio,
  group_ratio: ratio,
  model_ratio: ratio.optional(),
  completion_ratio: ratio.optional(),
  frt: ratio.optional(),
  admin_info: z.looseObject({ use_channel: z.array(text.regex(/^\d+$/)).optional() }).optional(),
})
const needsRatios = (facts: z.infer<typeof callFacts>) =>
  facts.model_price !== -1 || (facts.model_ratio !== undefined && facts.completion_ratio !== undefined)
const errorFacts = z.looseObject({ error_type: text, status_code: z.int() })

export const logRow = z
  .strictObject({
    id: id.min(1),
    user_id: id,
    created_at: seconds,
    type: z.int().min(0).max(6),
    content: text,
    username: text,
    token_name: text,
    token_id: id,
    model_name: text,
    quota: amount,
    prompt_tokens: amount,
    completion_tokens: amount,
    use_time: z.int().min(0),
    is_stream: flag,
    channel: id,
    channel_name: text,
    group: text,
    client_ip: text,
    other: jsonOrEmpty,
  })
  .superRefine(({ type, other }, context) => {
    const facts: unknown = other === '' ? null : JSON.parse(other)
    const isRight =
      type === 2
        ? callFacts.refine(needsRatios).safeParse(facts).success
        : type === 6
          ? errorFacts.safeParse(facts).success
          : other === ''
    if (!isRight) context.addIssue(`other of type ${type}: ${other}`)
  })
/** A user's own row names no channel, and nothing that is for administrators. */
export const ownLogRow = logRow.refine(
  ({ type, channel_name, other }) =>
    channel_name === '' && !other.includes('admin_info') && (type !== 6 || !other.includes('channel_id')),
  'shows what is for administrators',
)

export const redemption = z.strictObject({
  id: id.min(1),
  user_id: id,
  key: text.min(1).max(32),
  status: z.literal([1, 2, 3]),
  name: text.min(1),
  quota: amount,
  created_time: seconds,
  redeemed_time: seconds,
  valid_from: seconds,
  valid_until: seconds,
  count: z.literal(0),
  used_user_id: id,
  is_gift: flag,
  max_uses: z.int().min(-1),
  used_count: z.int().min(0),
  DeletedAt: z.null(),
})

export const drawing = z.strictObject({
  id: id.min(1),
  code: z.int(),
  user_id: id,
  action: text.min(1),
  mj_id: text,
  prompt: text,
  prompt_en: text,
  description: text,
  state: text,
  submit_time: milliseconds,
  start_time: milliseconds,
  finish_time: milliseconds,
  image_url: text,
  status: z.enum(['', 'NOT_START', 'SUBMITTED', 'IN_PROGRESS', 'SUCCESS', 'FAILURE', 'MODAL']),
  progress,
  fail_reason: text,
  channel_id: id,
  quota: amount,
  buttons: jsonOrEmpty,
  properties: jsonOrEmpty,
})

export const music = z.strictObject({
  id: id.min(1),
  created_at: seconds,
  updated_at: seconds,
  task_id: text,
  platform: z.literal('suno'),
  user_id: id,
  channel_id: id,
  quota: amount,
  action: z.enum(['MUSIC', 'LYRICS']),
  status: z.enum(['', 'NOT_START', 'SUBMITTED', 'QUEUED', 'IN_PROGRESS', 'FAILURE', 'SUCCESS', 'UNKNOWN']),
  fail_reason: text,
  submit_time: seconds,
  start_time: seconds,
  finish_time: seconds,
  progress,
  properties: z.looseObject({ input: text }),
  data: z.unknown(),
})
export const ownMusic = music.extend({ channel_id: z.literal(0) })

export const price = z.strictObject({
  model_name: text.min(1),
  quota_type: z.literal([0, 1]),
  model_ratio: ratio,
  model_price: ratio,
  owner_by: text,
  completion_ratio: ratio,
  enable_groups: z.array(text.min(1)),
})

export const hourOfUse = z.strictObject({
  id,
  user_id: id,
  username: text,
  model_name: text,
  created_at: seconds,
  token_used: amount,
  count: amount,
  quota: amount,
})

export const modelOfOpenAi = z.strictObject({
  id: text.min(1),
  object: z.literal('model'),
  created: z.literal(1_626_777_600),
  owned_by: text,
  permission: z.array(z.looseObject({})),
  root: text,
  parent: z.null(),
})

const format = z.enum(['markdown', 'html', 'plain'])
export const inboxMessage = z.strictObject({
  id: id.min(1),
  title: text.min(1),
  content: text.min(1),
  format,
  created_at: z.iso.datetime(),
  read_at: time,
  is_read: flag,
})
export const sentMessage = z.strictObject({
  id: id.min(1),
  title: text.min(1),
  content: text.min(1),
  format,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  stats: z.strictObject({ total_recipients: z.int().min(0), read_count: z.int().min(0) }),
})
export const recipient = z.strictObject({ user_id: id.min(1), username: text, display_name: text, read_at: time })

export const sums = z.strictObject({ quota: amount, rpm: amount, tpm: amount })
export const groups = z.record(text, z.strictObject({ ratio, desc: text.min(1) }))
export const namesInList = z.array(text.min(1))

const texts = (names: string) => z.object(Object.fromEntries(names.split(' ').map((name) => [name, text])))
const flags = (names: string) => z.object(Object.fromEntries(names.split(' ').map((name) => [name, flag])))

/** What clients draw their pages by; none of it is ever missing. */
export const siteStatus = z.strictObject({
  ...texts(
    'version system_name logo footer_html server_address top_up_link docs_link turnstile_site_key github_client_id linuxdo_client_id oidc_client_id oidc_authorization_endpoint wechat_qrcode telegram_bot_name',
  ).shape,
  ...flags(
    'enable_online_topup display_in_currency enable_batch_update enable_drawing enable_task enable_data_export default_collapse_sidebar mj_notify_enabled demo_site_enabled self_use_mode_enabled setup check_in_enabled aff_enabled email_verification turnstile_check github_oauth linuxdo_oauth log_chat_content_enabled oidc_enabled wechat_login telegram_oauth',
  ).shape,
  start_time: z.int().min(1),
  price: z.number(),
  min_topup: z.int(),
  quota_per_unit: z.number().min(1),
  data_export_default_time: z.enum(['hour', 'day', 'week']),
  chats: z.array(z.record(text.min(1), text.min(1))),
  linuxdo_minimum_trust_level: z.int(),
})
