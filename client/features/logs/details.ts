import { z } from 'zod'
import { type ErrorCode, isErrorCode, messageOf } from '#core/errors.ts'
import { withoutNeedlessZeros } from '#core/pricing/decimal.ts'
import type { Receipt } from '#core/pricing/receipt.ts'
import { receipt } from '#core/pricing/receipt.ts'
import { refusalText } from '../../i18n/refusal-text.ts'
import { t } from '../../i18n/t.ts'
import { quotaText } from '../../lib/format.ts'
import { logText } from '../../lib/log-text.ts'

/** A field that is not what it should be is left out; a row from another time must not break the page. */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)

const refusal = z.object({
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && isErrorCode(code)),
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
})

const attempt = z.object({
  channel_id: z.number(),
  channel_name: z.string().catch(''),
  key_index: z.number().catch(0),
  status: z.number().catch(0),
  reason: z.string().catch(''),
  refusal: lenient(refusal),
  ms: z.number().catch(0),
})
export type Attempt = z.infer<typeof attempt>

const message = z.object({ role: z.string(), content: z.string() })

const stored = z.object({
  frt: lenient(z.number()),
  cache_tokens: lenient(z.number()),
  cache_creation_tokens: lenient(z.number()),
  model_ratio: lenient(z.number()),
  completion_ratio: lenient(z.number()),
  group_ratio: lenient(z.number()),
  model_price: lenient(z.number()),
  upstream_model_name: lenient(z.string()),
  reasoning_effort: lenient(z.string()),
  dialect: lenient(z.string()),
  operation: lenient(z.string()),
  test_quota: lenient(z.number()),
  usage_source: lenient(z.enum(['upstream', 'estimated', 'none'])),
  usage_corrected: lenient(z.boolean()),
  end: lenient(z.enum(['hung-up', 'failed', 'unpaid'])),
  failure: lenient(z.string()),
  max_tokens_lowered: lenient(z.number()),
  losses: lenient(z.array(z.string())),
  plan: lenient(z.object({ name: z.string().default(''), quota: z.number() })),
  error_type: lenient(z.string()),
  error_code: lenient(z.union([z.string(), z.number()])),
  status_code: lenient(z.number()),
  refusal: lenient(refusal),
  channel_name: lenient(z.string()),
  system_prompt: lenient(z.string()),
  context: lenient(z.array(message)),
  input_content: lenient(z.union([z.string(), message])),
  output_content: lenient(z.string()),
  admin_info: lenient(
    z.object({
      attempts: lenient(z.array(attempt)),
      use_channel: lenient(z.array(z.string())),
      upstream_ms: lenient(z.number()),
    }),
  ),
})

/** What is written beside a row, as far as it can be read. */
export type LogDetails = Omit<z.infer<typeof stored>, 'frt' | 'admin_info'> & {
  /** Null where nothing arrived. */
  firstTokenMs: number | null
  attempts: readonly Attempt[]
  upstreamMs: number | undefined
  /** `unreadable`: there is one, and the charge cannot be proved from it. */
  receipt: Receipt | 'unreadable' | undefined
}

type Refusal = z.infer<typeof refusal> | undefined

/** What was written of a failure, with what we say of it in the reader's language. */
export const failureText = (written: string, refusal: Refusal): string =>
  refusal ? written.replace(messageOf(refusal), () => refusalText(refusal)) : written

const read = new WeakMap<object, LogDetails>()

export function detailsOf(row: { other: Record<string, unknown> | null }): LogDetails {
  const other = row.other ?? {}
  const known = read.get(other)
  if (known) return known
  const { frt, admin_info: admin, ...rest } = stored.parse(other)
  const parsed = other['receipt'] === undefined ? undefined : receipt.safeParse(other['receipt'])
  const details: LogDetails = {
    ...rest,
    firstTokenMs: frt !== undefined && frt >= 0 ? frt : null,
    attempts: admin?.attempts ?? [],
    upstreamMs: admin?.upstream_ms,
    receipt: parsed && (parsed.success ? parsed.data : 'unreadable'),
  }
  read.set(other, details)
  return details
}

/** Why a row without a receipt cost nothing. */
export function freeText(row: { other: Record<string, unknown> | null }): string {
  const { test_quota: quota } = detailsOf(row)
  if (quota === undefined) return t('这次调用没有用量，不收费。')
  return t('渠道测试不收费；用户的同样调用收费 {amount}。', { amount: quotaText(quota, 6) })
}

/** Amounts are written to six decimals; those that are zeros beyond the second say nothing. */
const exactDollars = /\$(?:\d+)\.\d{6}(?!\d)/g
const shortDollars = (amount: string): string => `$${withoutNeedlessZeros(amount.slice(1), 2)}`

/** The text of a row in the reader's language, as far as it is ours. */
export const contentText = (row: { content: string; other: Record<string, unknown> | null }): string =>
  failureText(logText(row.content).replace(exactDollars, shortDollars), detailsOf(row).refusal)

/** The name of the token; that of a test, which has none, is the product's own. */
export const tokenNameOf = ({ tokenId, tokenName }: { tokenId: number; tokenName: string }): string =>
  tokenId === 0 ? logText(tokenName) : tokenName
