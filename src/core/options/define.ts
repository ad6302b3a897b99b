import type { z } from 'zod'
import type { ErrorCode, Problem } from '#core/errors.ts'
import type { OptionGroup } from './groups.ts'

/**
 * `public`: anyone may read it, in the site status. `admin`: only root reads it. `secret`: written, never read back, and
 * encrypted where it is stored.
 */
export type Visibility = 'public' | 'admin' | 'secret'

/** How the settings page draws an option where its schema alone would not tell. */
export type Widget =
  | 'textarea'
  | 'markdown'
  | 'html'
  | 'css'
  | 'javascript'
  | 'lines'
  | 'tags'
  | 'json'
  | 'address'
  | 'image'
  | 'password'
  | 'quota'
  | 'percentage'
  | 'price-table'
  | 'group-ratios'
  | 'group-names'
  | 'model-names'
  | 'chat-links'
  | 'model-mapping'

/** Reads any option by name, so that a rule may look at others without knowing the registry. */
export type ReadOption = (key: string) => unknown

export type Option<Value> = {
  readonly schema: z.ZodType<Value>
  readonly default: Value
  readonly visibility: Visibility
  readonly group: OptionGroup
  readonly label: string
  readonly help?: string
  readonly unit?: string
  readonly widget?: Widget
  /** A list is stored as items between commas instead of JSON. */
  readonly textForm?: 'csv'
  /** A number whose empty text reads as this value, and the value is stored as empty text. */
  readonly blank?: number
  /** Said instead of the general refusals when the text or the schema is not met. */
  readonly refusal?: ErrorCode
  /**
   * Of a secret: the options that say where it is sent, the address first, none where that never changes. It does not
   * follow to another address: when one of them is changed without the secret being typed again, the secret is removed.
   */
  readonly boundTo?: readonly string[]
  /** Switching this on needs these options to be filled in. */
  readonly requires?: readonly string[]
  /** Saving the form with this filled in needs these options to be filled in; a single stored key is not held to it. */
  readonly formRequires?: { readonly keys: readonly string[]; readonly problem: ErrorCode }
  /** What the schema cannot say about one value. A method, so that options of any value share one type. */
  check?(value: Value): Problem | undefined
  /** What must hold between options when a form is saved. */
  readonly formCheck?: (read: ReadOption) => Problem | undefined
}

type Details<Value> = Omit<Option<Value>, 'schema'>

export const option = <Value>(schema: z.ZodType<Value>, details: Details<NoInfer<Value>>): Option<Value> => ({
  schema,
  ...details,
})

export type OptionTable = Record<string, Option<unknown>>
