import { z } from 'zod'
import { expectedFields } from '#core/expected.ts'
import { pageInput, pageSizeUpTo } from '#core/paging.ts'
import { channelStatus } from '#core/statuses.ts'

const largestInteger = 2_147_483_647

const text = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/)
const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^\P{Cc}*$/u)
const names = z.array(line(4096)).max(5000)
const jsonText = text(200_000)

const channelId = z.int().min(1).max(largestInteger)
const channelType = z.int().min(0).max(largestInteger)

/** What an operator may say of a channel, apart from its key and status. */
const fields = {
  name: line(255),
  type: channelType,
  models: names,
  groups: names,
  baseUrl: line(2000),
  /** Sent as a header. */
  openaiOrganization: z
    .string()
    .trim()
    .max(255)
    .regex(/^[\x20-\x7e]*$/),
  testModel: line(255),
  maxInputTokens: z.int().min(0).max(largestInteger),
  other: text(20_000),
  modelPrefix: line(255),
  tag: line(255),
  modelMapping: jsonText,
  statusCodeMapping: jsonText,
  setting: jsonText,
  paramOverride: jsonText,
  systemPrompt: jsonText,
  priority: z.int().min(-largestInteger).max(largestInteger),
  weight: z.int().min(0).max(1_000_000),
  autoBan: z.boolean(),
}

/** Commas or line breaks separate several credentials. */
const key = text(500_000)

const givenStatus = z.union([z.literal(1), z.literal(2), z.literal(3)])

export const createChannel = z.object({
  ...fields,
  key,
  groups: names.default(['default']),
  baseUrl: fields.baseUrl.default(''),
  openaiOrganization: fields.openaiOrganization.default(''),
  testModel: fields.testModel.default(''),
  maxInputTokens: fields.maxInputTokens.default(0),
  other: fields.other.default(''),
  modelPrefix: fields.modelPrefix.default(''),
  tag: fields.tag.default(''),
  modelMapping: jsonText.default(''),
  statusCodeMapping: jsonText.default(''),
  setting: jsonText.default(''),
  paramOverride: jsonText.default(''),
  systemPrompt: jsonText.default(''),
  priority: fields.priority.default(0),
  weight: fields.weight.default(0),
  autoBan: z.boolean().default(true),
  status: givenStatus.optional(),
})
export type CreateChannel = z.infer<typeof createChannel>

/**
 * What is absent stays. A blank key stays too: nobody empties it. `expected` is what the changed fields were where the change
 * began: it is refused where somebody else has changed them since.
 */
export const updateChannel = z
  .object({ ...fields, key, status: givenStatus })
  .partial()
  .extend({ id: channelId, expected: expectedFields })
export type UpdateChannel = z.infer<typeof updateChannel>
export type ChannelFields = Partial<Omit<CreateChannel, 'key' | 'status'>>

export const channelSorts = [
  'priority',
  'id',
  'name',
  'type',
  'status',
  'responseTimeMs',
  'usedQuota',
  'balance',
  'weight',
] as const

export const channelFilters = z.object({
  /** A number, a part of the name, or a whole key. */
  keyword: text(20_000).default(''),
  model: text(255).default(''),
  group: line(255).default(''),
  types: z.array(channelType).max(100).default([]),
  statuses: z.array(z.int().min(0).max(3)).max(4).default([]),
  tags: z.array(line(255)).max(200).default([]),
})
export type ChannelFilters = z.infer<typeof channelFilters>

export const searchChannels = channelFilters.extend({
  sort: z.enum(channelSorts).default('priority'),
  ascending: z.boolean().default(false),
  /** All channels of the tags that match, and no untagged ones; pages count tags. */
  tagMode: z.boolean().default(false),
})
export type SearchChannels = z.infer<typeof searchChannels>

/** Programs ask for all channels at once, and take a page that is not full for the last one. */
export const largestChannelPage = 1000

export const listChannels = searchChannels.extend({
  ...pageInput.shape,
  pageSize: pageSizeUpTo(largestChannelPage),
})
export type ListChannels = z.infer<typeof listChannels>

export const byChannelId = z.object({ id: channelId })
export const byChannelIds = z.object({ ids: z.array(channelId).max(10_000) })

const chosenStatus = z.union([z.literal(channelStatus.enabled), z.literal(channelStatus.disabled)])
/** `keepKeys` leaves credentials that went off by themselves as they are: taking a word back brings nothing back. */
export const setChannelStatus = z.object({ id: channelId, status: chosenStatus, keepKeys: z.boolean().default(false) })
export const setStatusOfMany = byChannelIds.extend({ status: chosenStatus })
/** By its place; another credential may have come there since, which `expected` names by its fingerprint. */
export const setKeyStatus = z.object({
  id: channelId,
  position: z.int().min(0).max(100_000),
  status: chosenStatus,
  expected: expectedFields,
})
export type SetKeyStatus = z.infer<typeof setKeyStatus>
export const setPriority = z.object({ id: channelId, priority: fields.priority })
export const setWeight = z.object({ id: channelId, weight: fields.weight })

export const listTags = z.object({
  offset: z.int().min(0).max(1_000_000).default(0),
  limit: z.int().min(1).max(1000).default(200),
})
export const byTag = z.object({ tag: line(255) })
/** What is absent stays; an empty new tag dissolves the tag. */
export const editTag = z.object({
  tag: line(255),
  newTag: line(255).optional(),
  modelMapping: jsonText.optional(),
  models: names.optional(),
  groups: names.optional(),
  priority: fields.priority.optional(),
  weight: fields.weight.optional(),
})
export type EditTag = z.infer<typeof editTag>
export const setTag = byChannelIds.extend({ tag: line(255) })

/** With the number of a stored channel a blank key stands for the stored one. */
export const fetchUpstreamModels = z.object({
  id: channelId.optional(),
  type: channelType,
  baseUrl: fields.baseUrl.default(''),
  key,
  other: fields.other.optional(),
})

export const probeChannel = z.object({ id: channelId, model: line(255).default('') })
export const channelHealth = z.object({
  ids: z.array(channelId).max(200),
  /** So many of the newest probes of each. */
  limit: z.int().min(1).max(100).default(20),
})

/** Runs over all channels that administrators may start. */
export const channelRuns = ['channel-tests', 'channel-balances'] as const
export const byRun = z.object({ name: z.enum(channelRuns) })
