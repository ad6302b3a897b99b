import type { Request } from 'express'
import { DomainError } from '#core/errors.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { admitGroup } from '#relay/request/admit.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import { noLimit } from '#relay/request/limit.ts'
import { withoutAlias } from '#relay/request/authenticate.ts'
import { answerLimited, type Exchange } from '../limited-call.ts'
import { contextWindow } from '#core/pricing/catalogue.ts'
import {
  claudeList,
  geminiList,
  type ModelPage,
  openAiList,
  pageOf,
  toClaudeModel,
  toGeminiModel,
  toOpenAiModel,
} from './model-lists.ts'
import { type ListedModel, type VisibleModel, visibleModels } from './visible-models.ts'

type Style = {
  dialect: CallerDialect
  list: (page: ModelPage) => unknown
  item: (model: ListedModel) => unknown
}

const openAiStyle: Style = { dialect: openAiChat, list: openAiList, item: toOpenAiModel }
const claudeStyle: Style = { dialect: claude, list: claudeList, item: toClaudeModel }
const geminiStyle: Style = { dialect: gemini, list: geminiList, item: toGeminiModel }

/** Whose list a caller reads: by path, then by the headers that only one vendor's clients send. */
function styleOf(req: Request): Style {
  const path = withoutAlias(req.path)
  if (path.startsWith('/v1beta/openai/')) return openAiStyle
  if (path.startsWith('/v1beta/')) return geminiStyle
  if (req.headers['anthropic-version'] !== undefined) return claudeStyle
  return req.headers['x-goog-api-key'] !== undefined || req.query['key'] !== undefined ? geminiStyle : openAiStyle
}

/** What the vendor says of the model that a name stands for. */
const withWindow = async (model: VisibleModel): Promise<ListedModel> => ({
  ...model,
  contextWindow: await contextWindow(model.root),
})

type Answer = (models: VisibleModel[], style: Style) => Promise<unknown>

/** What the caller's token may see, without a limit of requests. */
const answerModels = (services: RelayServices, exchange: Exchange, answer: Answer): Promise<void> => {
  const style = styleOf(exchange.req)
  return answerLimited(services, exchange, {
    dialect: style.dialect,
    isFree: true,
    limit: noLimit,
    answer: async ({ caller }) => {
      const models = visibleModels(services, { ...caller, group: admitGroup(services, caller) })
      exchange.res.json(await answer(models, style))
    },
  })
}

/** `GET …/models` in the style of the caller. */
export const listModels = (services: RelayServices, exchange: Exchange): Promise<void> =>
  answerModels(services, exchange, async (models, { list }) => {
    const page = pageOf(models, exchange.req.query)
    return list({ ...page, models: await Promise.all(page.models.map(withWindow)) })
  })

/** Whose fault it is, and by which field, as the original says it. */
function unknownModel(model: string): AttemptFailed {
  const failure = failureOfDomainError(new DomainError('relay.model_unknown', { model }))
  return new AttemptFailed({ ...failure, type: 'invalid_request_error', param: 'model' }, { local: true })
}

/** `GET …/models/{name}`. */
export const retrieveModel = (services: RelayServices, exchange: Exchange): Promise<void> =>
  answerModels(services, exchange, async (models, { item }) => {
    const wanted = ([] as string[]).concat(exchange.req.params['model'] ?? []).join('/')
    const found = models.find((model) => model.id === wanted)
    if (!found) throw unknownModel(wanted)
    return item(await withWindow(found))
  })
