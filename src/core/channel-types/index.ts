import data from './channel-types.json' with { type: 'json' }

export const channelOperations = [
  'chat',
  'embeddings',
  'images',
  'audioSpeech',
  'audioTranscription',
  'rerank',
  'responses',
  'claudeMessages',
  'gemini',
  'moderations',
  'realtime',
  'task',
] as const
export type ChannelOperation = (typeof channelOperations)[number]

/** How the text of one credential is built; `pipe` and `dot` join several parts. */
type KeyFormat = 'none' | 'single' | 'pipe' | 'dot' | 'dash' | 'single-or-pipe' | 'json' | 'service-account-json'

/** What the relay and the channel form know about one number of the documented list. */
export type ChannelType = {
  type: number
  name: string
  /** The Chinese label, which is the source language. */
  label: string
  labelEn: string
  /** Without a trailing slash; empty when the operator must give one or none is used. */
  baseUrl: string
  requiresBaseUrl: boolean
  keyFormat: KeyFormat
  /** Names of the parts in order; a trailing `?` marks an optional one. */
  keyParts: string[]
  /** The text may hold several credentials, separated by commas or line breaks. */
  multiKey: boolean
  keyHint: string
  keyHintZh: string
  /** What the extra field of the channel means; null when it is unused. */
  otherField: string | null
  defaultModels: string[]
  currentModels: string[]
  supports: Record<ChannelOperation, boolean>
  protocol: 'openai' | 'anthropic' | 'gemini' | 'bespoke'
  status: 'active' | 'legacy' | 'extension' | 'later' | 'dead' | 'excluded' | 'reserved'
  hiddenInUi: boolean
  /** The upstream takes `stream_options.include_usage`, or reports usage in streams by itself. */
  streamUsageOption: boolean
  modelsEndpoint: string | null
  balanceEndpoint: string | null
  notes: string
}

/** Drawing and music: their models are the actions there are, each with a price in any case. */
export const taskTypes: ReadonlySet<number> = new Set([2, 5, 36])

/** A row as it is written: only what differs from the usual, and the operations by name. */
type Row = Partial<Omit<ChannelType, 'supports'>> &
  Pick<ChannelType, 'type' | 'name' | 'label'> & { supports: readonly ChannelOperation[] }

const usual: Omit<ChannelType, 'type' | 'name' | 'label' | 'labelEn' | 'supports'> = {
  baseUrl: '',
  requiresBaseUrl: false,
  keyFormat: 'single',
  keyParts: ['apiKey'],
  multiKey: true,
  keyHint: 'Provider API key. Several keys may be given, separated by commas or new lines; they are used round-robin.',
  keyHintZh: '填写该渠道的密钥；可填多个，用英文逗号或换行分隔，系统轮流使用',
  otherField: null,
  defaultModels: [],
  currentModels: [],
  protocol: 'openai',
  status: 'active',
  hiddenInUi: false,
  streamUsageOption: true,
  modelsEndpoint: null,
  balanceEndpoint: null,
  notes: '',
}

const flags = (operations: readonly ChannelOperation[], on: boolean) =>
  Object.fromEntries(operations.map((operation) => [operation, on])) as Record<ChannelOperation, boolean>

const toChannelType = (row: Row): ChannelType => ({
  ...usual,
  labelEn: row.label,
  ...row,
  supports: { ...flags(channelOperations, false), ...flags(row.supports, true) },
})

export const channelTypes: readonly ChannelType[] = (data as Row[]).map(toChannelType)

const byNumber = new Map(channelTypes.map((entry) => [entry.type, entry]))

export const channelTypeOf = (type: number): ChannelType | undefined => byNumber.get(type)

/** The numbers an operator may choose for a new channel, in the order of the list. */
export const selectableChannelTypes: readonly ChannelType[] = channelTypes.filter(
  (entry) => !entry.hiddenInUi && entry.type !== 0,
)

export const defaultBaseUrlOf = (type: number): string => byNumber.get(type)?.baseUrl ?? ''

/** Whether an upstream of this number has an operation at all; one nobody knows is asked. */
export const mayOffer = (type: number, operation: ChannelOperation): boolean =>
  byNumber.get(type)?.supports[operation] ?? true

export const supportsOperation = (type: number, operation: ChannelOperation): boolean =>
  byNumber.get(type)?.supports[operation] ?? false
