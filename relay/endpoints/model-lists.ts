import { channelTypes } from '#core/channel-types/index.ts'
import { parametersOf } from '#relay/providers/model-parameters.ts'
import type { ListedModel, VisibleModel } from './visible-models.ts'

type Query = Record<string, unknown>

/** A piece of the list; all of it for callers who ask for no piece. */
export type ModelPage = { models: ListedModel[]; isPage: boolean; hasMore: boolean }

const mostModels = 1000

const wordIn = (query: Query, ...names: string[]): string | undefined =>
  names.map((name) => query[name]).find((value): value is string => typeof value === 'string' && value !== '')

/**
 * The piece of a list that a caller asks for, in the words of any vendor: so many (`limit`, `pageSize`) after one (`after`,
 * `after_id`, `pageToken`) or before one (`before_id`).
 */
export function pageOf<Model extends VisibleModel>(
  models: Model[],
  query: Query,
): { models: Model[]; isPage: boolean; hasMore: boolean } {
  const asked = wordIn(query, 'limit', 'pageSize')
  const count = Number.parseInt(asked ?? '', 10)
  const most = count > 0 ? Math.min(count, mostModels) : Math.max(mostModels, models.length)
  const token = wordIn(query, 'pageToken')
  const after = wordIn(query, 'after', 'after_id') ?? (token && Buffer.from(token, 'base64url').toString('utf8'))
  const before = wordIn(query, 'before_id')
  const isPage = asked !== undefined || after !== undefined || before !== undefined
  if (before !== undefined) {
    const found = models.findIndex(({ id }) => id === before)
    const end = found < 0 ? models.length : found
    const start = Math.max(0, end - most)
    return { models: models.slice(start, end), isPage, hasMore: start > 0 }
  }
  // The list is in order: one that has left it since still says where to go on.
  const start = after === undefined ? 0 : models.filter(({ id }) => id.localeCompare(after) <= 0).length
  return { models: models.slice(start, start + most), isPage, hasMore: start + most < models.length }
}

/** When the documented list says every model was made. */
const created = 1626777600

const ownerOf = new Map(
  channelTypes
    .flatMap((type) => [...type.defaultModels, ...type.currentModels].map((model) => [model, type.name] as const))
    .reverse(),
)

const ownedBy = (model: string): string =>
  /^(mj_|swap_face)/.test(model) ? 'midjourney' : model.startsWith('suno_') ? 'suno' : (ownerOf.get(model) ?? 'custom')

const permission = {
  id: 'modelperm-LwHkVFn8AcMItP432fKKDYKJ',
  object: 'model_permission',
  created,
  allow_create_engine: true,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: '*',
  group: null,
  is_blocking: false,
}

export const toOpenAiModel = ({ id, root, contextWindow }: ListedModel) => ({
  id,
  object: 'model',
  created,
  owned_by: ownedBy(root),
  permission: [permission],
  root,
  parent: null,
  // By the two names that programs look under.
  ...(contextWindow === undefined ? {} : { context_window: contextWindow, context_length: contextWindow }),
})

export const openAiList = ({ models, isPage, hasMore }: ModelPage) => ({
  success: true,
  object: 'list',
  data: models.map(toOpenAiModel),
  ...(isPage ? { first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null, has_more: hasMore } : {}),
})

export const toClaudeModel = ({ id, contextWindow }: ListedModel) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(created * 1000).toISOString(),
  ...(contextWindow === undefined ? {} : { max_input_tokens: contextWindow }),
})

export const claudeList = ({ models, hasMore }: ModelPage) => ({
  data: models.map(toClaudeModel),
  first_id: models[0]?.id ?? null,
  has_more: hasMore,
  last_id: models.at(-1)?.id ?? null,
})

/** With every field that Google's models have: clients that lack one in one model throw the whole list away. */
export const toGeminiModel = ({ id, root, contextWindow }: ListedModel) => ({
  name: `models/${id}`,
  version: '001',
  displayName: id,
  description: '',
  inputTokenLimit: contextWindow ?? 0,
  outputTokenLimit: parametersOf(root).maxOutput ?? 0,
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
})

export const geminiList = ({ models, hasMore }: ModelPage) => ({
  models: models.map(toGeminiModel),
  ...(hasMore ? { nextPageToken: Buffer.from(models.at(-1)?.id ?? '').toString('base64url') } : {}),
})
