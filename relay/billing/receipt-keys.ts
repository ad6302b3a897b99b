import type { Price } from '#core/pricing/price.ts'
import type { Receipt, ToolName, UsageReceipt } from '#core/pricing/receipt.ts'
import type { RelayServices } from '#relay/request/call.ts'
import type { UserRow } from '#relay/request/user-cache.ts'
import type { CallPrice } from './price-call.ts'

const twoDigits = (value: number): string => value.toFixed(2)

const toolWords: Record<ToolName, string> = {
  webSearch: 'Web Search',
  fileSearch: 'File Search',
  codeInterpreter: 'Code Interpreter',
}

/** The sentence of a log row that older consoles show, with the tools that the vendor ran. */
export function priceWords({ price, groupRatio }: CallPrice, receipt: Receipt | null): string {
  const group = `分组倍率 ${twoDigits(groupRatio)}`
  const tools = receipt && 'tools' in receipt ? (receipt.tools ?? []) : []
  const used = tools.map(
    ({ tool, calls, dollars, per }) =>
      `，${toolWords[tool]} 调用 ${calls} 次，${per === 1 ? '每次' : `每 ${per} 次`} $${dollars}`,
  )
  return `${ratioWords(price, receipt?.formula === 'audio')}，${group}${used.join('')}`
}

function ratioWords(price: Price, isAudio: boolean): string {
  if (price.kind === 'call') return `模型价格 ${twoDigits(price.modelPrice)}`
  const text = `模型倍率 ${twoDigits(price.modelRatio)}，补全倍率 ${twoDigits(price.completionRatio)}`
  if (!isAudio) return text
  return `${text}，音频倍率 ${twoDigits(price.audioRatio)}，音频补全倍率 ${twoDigits(price.audioCompletionRatio)}`
}

/** The keys of a log row for sound, pictures and tools that older consoles read, where a call used them. */
export function receiptKeys(receipt: Receipt | null): Record<string, unknown> {
  if (!receipt || receipt.formula === 'image' || receipt.formula === 'task') return {}
  return { ...audioKeys(receipt), ...imageKeys(receipt), ...toolKeys(receipt) }
}

const ratioOf = ({ price }: UsageReceipt) => (price.kind === 'ratio' ? price : null)

function audioKeys(receipt: UsageReceipt): Record<string, unknown> {
  if (receipt.formula !== 'audio') return {}
  const { usage } = receipt
  return {
    audio: true,
    audio_input: usage.audioInputTokens,
    audio_output: usage.audioOutputTokens,
    text_input: usage.promptTokens - usage.audioInputTokens,
    text_output: usage.completionTokens - usage.audioOutputTokens,
    audio_ratio: ratioOf(receipt)?.audioRatio ?? 1,
    audio_completion_ratio: ratioOf(receipt)?.audioCompletionRatio ?? 1,
  }
}

const imageKeys = (receipt: UsageReceipt): Record<string, unknown> =>
  receipt.usage.imageInputTokens > 0
    ? { image: true, image_ratio: ratioOf(receipt)?.imageRatio ?? 1, image_output: receipt.usage.imageInputTokens }
    : {}

const toolKeyNames: Record<ToolName, string> = {
  webSearch: 'web_search',
  fileSearch: 'file_search',
  codeInterpreter: 'code_interpreter',
}

function toolKeys({ tools }: UsageReceipt): Record<string, unknown> {
  const entries = (tools ?? []).flatMap(({ tool, calls, dollars }): [string, unknown][] => {
    const name = toolKeyNames[tool]
    return [
      [name, true],
      [`${name}_call_count`, calls],
      [`${name}_price`, dollars],
    ]
  })
  return Object.fromEntries(entries)
}

/** Said where the caller's own group has a ratio of its own in the group that was used. */
export function userGroupKeys(
  { options }: RelayServices,
  { user, group, groupRatio }: { user: UserRow; group: string; groupRatio: number },
): Record<string, unknown> {
  const tables = options.get('GroupGroupRatio')
  const own = Object.hasOwn(tables, user.group) ? tables[user.group] : undefined
  const special = own && Object.hasOwn(own, group) ? own[group] : undefined
  return special !== undefined && special === groupRatio ? { user_group_ratio: special } : {}
}
