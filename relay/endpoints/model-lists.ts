import { channelTypes } from '#core/channel-types/index.ts'
import type { VisibleModel } from './visible-models.ts'

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

export const toOpenAiModel = ({ id, root }: VisibleModel) => ({
  id,
  object: 'model',
  created,
  owned_by: ownedBy(root),
  permission: [permission],
  root,
  parent: null,
})

export const openAiList = (models: VisibleModel[]) => ({
  success: true,
  object: 'list',
  data: models.map(toOpenAiModel),
})

export const toClaudeModel = ({ id }: VisibleModel) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(created * 1000).toISOString(),
})

export const claudeList = (models: VisibleModel[]) => ({
  data: models.map(toClaudeModel),
  first_id: models[0]?.id ?? null,
  has_more: false,
  last_id: models.at(-1)?.id ?? null,
})

export const toGeminiModel = ({ id }: VisibleModel) => ({
  name: `models/${id}`,
  displayName: id,
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
})

export const geminiList = (models: VisibleModel[]) => ({ models: models.map(toGeminiModel) })
