import type { Option } from '../define.ts'
import { addressOptions } from './addresses.ts'
import { brandingOptions } from './branding.ts'
import { claudeOptions } from './claude.ts'
import { drawingOptions } from './drawing.ts'
import { geminiOptions } from './gemini.ts'
import { generalOptions } from './general.ts'
import { globalOptions } from './global.ts'
import { loginOptions } from './login.ts'
import { mailOptions } from './mail.ts'
import { monitoringOptions } from './monitoring.ts'
import { paymentOptions } from './payment.ts'
import { priceOptions } from './prices.ts'
import { quotaOptions } from './quota.ts'
import { rateLimitOptions } from './rate-limit.ts'
import { screeningOptions } from './screening.ts'

/** Every option the product knows, under its documented key. */
export const options = {
  ...brandingOptions,
  ...addressOptions,
  ...paymentOptions,
  ...loginOptions,
  ...mailOptions,
  ...quotaOptions,
  ...priceOptions,
  ...generalOptions,
  ...drawingOptions,
  ...screeningOptions,
  ...monitoringOptions,
  ...rateLimitOptions,
  ...geminiOptions,
  ...claudeOptions,
  ...globalOptions,
}

export type OptionKey = keyof typeof options

export type OptionValues = {
  [Key in OptionKey]: (typeof options)[Key] extends Option<infer Value> ? Value : never
}

/** Reads the current value of an option; the same object until it changes, so callers must not write to it. */
export type OptionsReader = { get: <Key extends OptionKey>(key: Key) => OptionValues[Key] }

export const optionKeys = Object.keys(options) as OptionKey[]

export const isOptionKey = (key: string): key is OptionKey => Object.hasOwn(options, key)

export const optionOf = (key: OptionKey): Option<unknown> => options[key]

/** Ready-made values: the defaults, with the given ones in their place. */
export const defaultOptions = (changes: Partial<OptionValues> = {}): OptionValues =>
  ({
    ...Object.fromEntries(optionKeys.map((key) => [key, structuredClone(options[key].default)])),
    ...changes,
  }) as OptionValues

export const readerOf = (values: OptionValues): OptionsReader => ({ get: (key) => values[key] })
