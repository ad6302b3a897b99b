import type { Request, Response } from 'express'
import { DomainError } from '#core/errors.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { admitAddress, admitGroup } from '#relay/request/admit.ts'
import { authenticate } from '#relay/request/authenticate.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import { receive } from '#relay/request/receive.ts'
import { reportError } from '#relay/response/report-error.ts'
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
  if (req.path.startsWith('/v1beta/openai/')) return openAiStyle
  if (req.path.startsWith('/v1beta/')) return geminiStyle
  if (req.headers['anthropic-version'] !== undefined) return claudeStyle
  return req.headers['x-goog-api-key'] !== undefined || req.query['key'] !== undefined ? geminiStyle : openAiStyle
}

async function modelsFor(services: RelayServices, req: Request, ip: string): Promise<VisibleModel[]> {
  const caller = await authenticate(services, req)
  admitAddress(caller, ip)
  return visibleModels(services, { ...caller, group: admitGroup(services, caller) })
}

/** What the vendor says of the model that a name stands for. */
const withWindow = async (model: VisibleModel): Promise<ListedModel> => ({
  ...model,
  contextWindow: await contextWindow(model.root),
})

/** `GET …/models` in the style of the caller. */
export async function listModels(services: RelayServices, req: Request, res: Response): Promise<void> {
  const style = styleOf(req)
  const incoming = receive(services, style.dialect, { req, res })
  try {
    const page = pageOf(await modelsFor(services, req, incoming.ip), req.query)
    res.json(style.list({ ...page, models: await Promise.all(page.models.map(withWindow)) }))
  } catch (error) {
    reportError(services, incoming, error)
  }
}

/** Whose fault it is, and by which field, as the original says it. */
function unknownModel(model: string): AttemptFailed {
  const failure = failureOfDomainError(new DomainError('relay.model_unknown', { model }))
  return new AttemptFailed({ ...failure, type: 'invalid_request_error', param: 'model' }, { local: true })
}

/** `GET …/models/{name}`. */
export async function retrieveModel(services: RelayServices, req: Request, res: Response): Promise<void> {
  const style = styleOf(req)
  const incoming = receive(services, style.dialect, { req, res })
  try {
    const wanted = ([] as string[]).concat(req.params['model'] ?? []).join('/')
    const models = await modelsFor(services, req, incoming.ip)
    const found = models.find((model) => model.id === wanted)
    if (!found) throw unknownModel(wanted)
    res.json(style.item(await withWindow(found)))
  } catch (error) {
    reportError(services, incoming, error)
  }
}
