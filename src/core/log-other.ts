import { defaultQuotaPerUnit } from './quota.ts'
import { emptyUsage } from './usage.ts'

/**
 * What a log row keeps beside its columns is written without what follows from the rest, which is most of it: rows are
 * written with every call and read by few. `expandOther` gives back exactly what `leanOther` was given; rows without
 * `leanKey` were written whole.
 */
type Other = Record<string, unknown>

const leanKey = 'lean'

const isRecord = (value: unknown): value is Other =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const usageDefaults: Other = emptyUsage
const priceDefaults: Other = {
  kind: 'ratio',
  modelRatio: 1,
  completionRatio: 1,
  cacheRatio: 1,
  cacheWriteRatio: 1,
  cacheWrite1hRatio: 1,
  imageRatio: 1,
  audioRatio: 1,
  audioCompletionRatio: 1,
  source: 'table',
}
const attemptDefaults: Other = { key_index: 0, status: 200, reason: '' }
const receiptDefaults = (modelName: string): Other => ({
  formula: 'text',
  groupRatio: 1,
  quotaPerUnit: defaultQuotaPerUnit,
  pricedModel: modelName,
})

/** Keys that older consoles read and the receipt has; `cache_tokens` is summed by the database, so only its zero goes. */
function derivedOf({ usage, price, groupRatio }: { usage: Other; price: Other; groupRatio: unknown }): Other {
  return {
    model_ratio: price['modelRatio'],
    group_ratio: groupRatio,
    completion_ratio: price['completionRatio'],
    model_price: -1,
    ...(usage['cachedTokens'] === 0 ? { cache_tokens: 0 } : {}),
    cache_ratio: price['cacheRatio'],
    usage_source: 'upstream',
  }
}

/** Without what equals its default; undefined where a key is missing, which could not be distinguished from a default then. */
function without(given: unknown, defaults: Other): Other | undefined {
  if (!isRecord(given)) return undefined
  const lean: Other = {}
  let missing = Object.keys(defaults).length
  for (const key in given) {
    const value = given[key]
    const usual = defaults[key]
    if (usual !== undefined && value !== undefined) missing -= 1
    if (value !== usual) lean[key] = value
  }
  return missing === 0 ? lean : undefined
}

const withDefaults = (given: unknown, defaults: Other): Other => ({ ...defaults, ...(isRecord(given) ? given : {}) })

/** What is kept of a row's other keys; `modelName` is the column of that name. */
export function leanOther(other: Other, modelName: string): Other {
  const { receipt, admin_info: info, ...keys } = other
  if (!isRecord(receipt) || !isRecord(info) || !Array.isArray(info['attempts'])) return other
  const { usage: fullUsage, price: fullPrice, ...terms } = receipt
  const usage = without(fullUsage, usageDefaults)
  const price = without(fullPrice, priceDefaults)
  const own = without(terms, receiptDefaults(modelName))
  const attempts = info['attempts'].map((attempt) => without(attempt, attemptDefaults))
  if (!usage || !price || !own || attempts.includes(undefined)) return other
  const derived = derivedOf({ usage: fullUsage as Other, price: fullPrice as Other, groupRatio: terms['groupRatio'] })
  const left = without(keys, derived)
  const { attempts: _, use_channel: used, ...about } = info
  if (!left || used === undefined) return other
  const isUsual = String(used) === String(channelsOf(info['attempts']))
  const ways = { ...about, attempts, ...(isUsual ? {} : { use_channel: used }) }
  return { [leanKey]: 1, ...left, admin_info: ways, receipt: { ...own, usage, price } }
}

const channelsOf = (attempts: readonly unknown[]): string[] =>
  attempts.map((attempt) => String((attempt as { channel_id: number }).channel_id))

/** A receipt as it was before it was made lean; anything else comes back as it is. */
export function expandReceipt(receipt: unknown, modelName: string): unknown {
  if (!isRecord(receipt)) return receipt
  const { usage, price, ...own } = receipt
  return {
    ...receiptDefaults(modelName),
    ...own,
    usage: withDefaults(usage, usageDefaults),
    price: withDefaults(price, priceDefaults),
  }
}

/** The keys of a row as they were before `leanOther`. */
export function expandOther(stored: Other, modelName: string): Other {
  if (stored[leanKey] === undefined) return stored
  const { [leanKey]: _, receipt: leanReceipt, admin_info: info, ...keys } = stored
  const receipt = expandReceipt(leanReceipt, modelName) as { usage: Other; price: Other; groupRatio: unknown }
  const ways = isRecord(info) ? info : {}
  const attempts = (Array.isArray(ways['attempts']) ? ways['attempts'] : []).map((attempt) =>
    withDefaults(attempt, attemptDefaults),
  )
  return {
    ...derivedOf(receipt),
    ...keys,
    admin_info: { use_channel: channelsOf(attempts), ...ways, attempts },
    receipt,
  }
}
