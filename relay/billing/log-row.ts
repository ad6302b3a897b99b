import type { Problem } from '#core/errors.ts'
import type { CostInfo } from '#core/pricing/attempt-costs.ts'
import type { Price } from '#core/pricing/price.ts'
import type { Receipt, ToolName, UsageReceipt } from '#core/pricing/receipt.ts'
import type { Usage } from '#core/usage.ts'
import type { ChannelRequest } from '#relay/attempt/channel-body.ts'
import type { Delivered } from '#relay/chat/delivered.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import type { Attempt, AttemptRecord, CallCore, RelayServices } from '#relay/request/call.ts'
import type { CallPrice } from './price-call.ts'

/** The columns of a log row that every kind of call fills alike. */
export function callColumns(call: CallCore, { channel }: Pick<Attempt, 'channel'>) {
  const { token, tokenName, user } = call.caller
  return {
    userId: user.id,
    username: user.username,
    tokenId: token?.id ?? 0,
    tokenName,
    channelId: channel.id,
    modelName: call.model,
    group: call.group,
    clientIp: user.showsIpInLogs ? call.ip : '',
  }
}

/** The same of a call that used tokens. */
export function usageColumns(usage: Usage, startedAt: number) {
  const { promptTokens, completionTokens, cachedTokens } = usage
  return { promptTokens, completionTokens, cachedTokens, useTimeMs: Math.round(performance.now() - startedAt) }
}

/** The keys of a row's `other` that older consoles read of every charge by usage. */
export function usageKeys({ price, groupRatio }: CallPrice, usage: Usage, firstTokenMs: number | null) {
  const ratio = price.kind === 'ratio' ? price : null
  return {
    model_ratio: ratio?.modelRatio ?? 0,
    group_ratio: groupRatio,
    completion_ratio: ratio?.completionRatio ?? 0,
    model_price: price.kind === 'call' ? price.modelPrice : -1,
    cache_tokens: usage.cachedTokens,
    cache_ratio: ratio?.cacheRatio ?? 1,
    frt: firstTokenMs ?? -1000,
  }
}

/** Which ways a call went, and under which name it was sent. */
export const attemptKeys = (
  { mapped, upstreamModel }: Pick<Attempt, 'mapped' | 'upstreamModel'>,
  attempts: readonly AttemptRecord[],
  { upstreamMs, cost }: { upstreamMs?: number; cost?: CostInfo } = {},
) => ({
  admin_info: {
    use_channel: attempts.map((record) => String(record.channel_id)),
    attempts: [...attempts],
    ...(upstreamMs === undefined ? {} : { upstream_ms: Math.round(upstreamMs) }),
    ...cost,
  },
  ...(mapped ? { is_model_mapped: true, upstream_model_name: upstreamModel } : {}),
})

/** One way a call went, for its row and for the chain of chips in the console. */
export const attemptRecord = (
  { channel, key }: Pick<Attempt, 'channel' | 'key'>,
  {
    status,
    reason = '',
    refusal,
    ms,
    cost,
  }: {
    status: number
    reason?: string | undefined
    refusal?: Problem | undefined
    ms: number
    cost?: number | undefined
  },
): AttemptRecord => ({
  channel_id: channel.id,
  channel_name: channel.name,
  key_index: key.position,
  status,
  reason: reason.slice(0, 500),
  ...(refusal ? { refusal } : {}),
  ms: Math.round(ms),
  ...(cost === undefined ? {} : { cost }),
})

const twoDigits = (value: number): string => value.toFixed(2)

const toolLabels: Record<ToolName, string> = {
  webSearch: 'Web Search',
  fileSearch: 'File Search',
  codeInterpreter: 'Code Interpreter',
  imageGeneration: 'Image Generation',
}

/** The sentence of a log row that older consoles show, with the tools that the vendor ran. */
export function priceText(
  { price, groupRatio }: CallPrice,
  receipt: Receipt | null,
  isAudio = receipt?.formula === 'audio',
): string {
  const group = `分组倍率 ${twoDigits(groupRatio)}`
  const tools = receipt && 'tools' in receipt ? (receipt.tools ?? []) : []
  const used = tools.map(
    ({ tool, calls, dollars, per }) =>
      `，${toolLabels[tool]} 调用 ${calls} 次，${per === 1 ? '每次' : `每 ${per} 次`} $${dollars}`,
  )
  return `${ratioText(price, isAudio)}，${group}${used.join('')}`
}

function ratioText(price: Price, isAudio: boolean): string {
  if (price.kind === 'call') return `模型价格 ${twoDigits(price.modelPrice)}`
  const text = `模型倍率 ${twoDigits(price.modelRatio)}，补全倍率 ${twoDigits(price.completionRatio)}`
  if (!isAudio) return text
  return `${text}，音频倍率 ${twoDigits(price.audioRatio)}，音频补全倍率 ${twoDigits(price.audioCompletionRatio)}`
}

/** The keys of a log row for audio, images and tools that older consoles read, where a call used them. */
export function receiptKeys(receipt: Receipt | null): Record<string, unknown> {
  if (!receipt || receipt.formula === 'image' || receipt.formula === 'task' || receipt.formula === 'batch') return {}
  return { ...audioKeys(receipt), ...imageKeys(receipt), ...toolKeys(receipt) }
}

const ratioOf = ({ price }: { price: Price }) => (price.kind === 'ratio' ? price : null)

/** Recordings and texts apart, from which older consoles compute the price of a row that is marked `audio` or `ws`. */
export const audioCountKeys = (terms: { price: Price }, usage: Usage): Record<string, unknown> => ({
  audio_input: usage.audioInputTokens,
  audio_output: usage.audioOutputTokens,
  text_input: usage.promptTokens - usage.audioInputTokens,
  text_output: usage.completionTokens - usage.audioOutputTokens,
  audio_ratio: ratioOf(terms)?.audioRatio ?? 1,
  audio_completion_ratio: ratioOf(terms)?.audioCompletionRatio ?? 1,
})

const audioKeys = (receipt: UsageReceipt): Record<string, unknown> =>
  receipt.formula === 'audio' ? { audio: true, ...audioCountKeys(receipt, receipt.usage) } : {}

const imageKeys = (receipt: UsageReceipt): Record<string, unknown> =>
  receipt.usage.imageInputTokens > 0
    ? { image: true, image_ratio: ratioOf(receipt)?.imageRatio ?? 1, image_output: receipt.usage.imageInputTokens }
    : {}

const toolKeyNames: Record<ToolName, string> = {
  webSearch: 'web_search',
  fileSearch: 'file_search',
  codeInterpreter: 'code_interpreter',
  imageGeneration: 'image_generation',
}

function toolKeys({ tools }: UsageReceipt): Record<string, unknown> {
  const entries = [...Map.groupBy(tools ?? [], ({ tool }) => tool)].flatMap(([kind, uses]): [string, unknown][] => {
    // Images have a price each; the keys hold one, which has to give the same sum.
    const calls = uses.reduce((sum, use) => sum + use.calls, 0)
    const dollars = uses.reduce((sum, use) => sum + use.calls * use.dollars, 0)
    const name = toolKeyNames[kind]
    return [
      [name, true],
      [`${name}_call_count`, calls],
      [`${name}_price`, uses.length === 1 ? uses[0]?.dollars : Math.round((dollars / calls) * 1e9) / 1e9],
    ]
  })
  return Object.fromEntries(entries)
}

/** Where the caller's own group has a ratio of its own in the group that was used. */
export function userGroupKeys(
  { options }: RelayServices,
  { caller: { user }, group }: Pick<CallCore, 'caller' | 'group'>,
  groupRatio: number,
): Record<string, unknown> {
  const tables = options.get('GroupGroupRatio')
  const own = Object.hasOwn(tables, user.group) ? tables[user.group] : undefined
  const special = own && Object.hasOwn(own, group) ? own[group] : undefined
  return special !== undefined && special === groupRatio ? { user_group_ratio: special } : {}
}

const longest = 64 * 1024

/** As much of a text as so many bytes hold. */
function cut(text: string, bytes = longest): string {
  if (Buffer.byteLength(text) <= bytes) return text
  // A letter has a byte at least. What is left of one at the end is kept back as the beginning of another.
  const start = Buffer.from(text.slice(0, bytes)).subarray(0, bytes)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true })
}

/** What a caller wrote, as text: images and files are named, not stored. */
function textOf(content: ChatRequest['messages'][number]['content']): string {
  return (content as { type: string; text?: string }[])
    .map((part) => (typeof part.text === 'string' ? part.text : `[${part.type}]`))
    .join('\n')
}

/** As many of the messages as there is room for, the newest first; the oldest of them is cut. */
function contextOf(messages: ChatRequest['messages']): { role: string; content: string }[] {
  const context: { role: string; content: string }[] = []
  let room = longest - '[]'.length
  for (const message of messages.toReversed()) {
    const entry = { role: message.role, content: cut(textOf(message.content)) }
    room -= Buffer.byteLength(JSON.stringify(entry)) + ','.length
    if (room >= 0) context.push(entry)
    else {
      const content = cut(entry.content, Math.max(0, Buffer.byteLength(entry.content) + room))
      if (content !== '') context.push({ ...entry, content })
      break
    }
  }
  return context.toReversed()
}

/**
 * The conversation as it was sent, for the log row, only while the operator has switched content logging on. The caller may read it
 * there, but for a system prompt of the channel's.
 */
export function contentKeys(
  services: RelayServices,
  { request: { messages }, hasChannelPrompt }: Pick<ChannelRequest, 'request' | 'hasChannelPrompt'>,
  delivered: () => Delivered,
): Record<string, unknown> {
  if (!services.options.get('LogChatContentEnabled')) return {}
  const conversation = messages.filter((message) => message.role !== 'system')
  const input = conversation.findLast((message) => message.role === 'user') ?? conversation.at(-1)
  const { text, reply = text } = delivered()
  return {
    system_prompt: cut(
      messages
        .filter((message) => message.role === 'system')
        .map((message) => textOf(message.content))
        .join('\n'),
    ),
    own_system_prompt: !hasChannelPrompt,
    context: contextOf(conversation.filter((message) => message !== input)),
    input_content: input ? { role: input.role, content: cut(textOf(input.content)) } : '',
    output_content: cut(reply),
  }
}
