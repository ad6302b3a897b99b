import type { IncomingMessage } from 'node:http'
import { type NextFunction, type Request, type Response, Router } from 'express'
import { DomainError } from '#core/errors.ts'
import { endUnreadBody } from '#features/request-bodies/unread-bodies.ts'
import { authenticate, withoutAlias } from './request/authenticate.ts'
import type { ChatRoute, RelayServices } from './request/call.ts'
import { handleChat } from './chat-call.ts'
import { limitHeaders } from './request/limit.ts'
import { loweredHeader } from './billing/lowered-limit.ts'
import { receive } from './request/receive.ts'
import { reportError } from './response/report-error.ts'
import { listModels, retrieveModel } from './endpoints/models.ts'
import { openAiChat } from './dialects/openai-chat/index.ts'
import { identifyPlayground, preparePlayground } from './request/playground.ts'
import { createBatch } from './batches/create.ts'
import { answerAboutBatch, listOwnBatches } from './batches/about.ts'
import { answerBilling } from './endpoints/billing.ts'
import { answerConversation, conversationPaths } from './endpoints/conversations.ts'
import { claudeCounting, countTokens, geminiCounting, responsesCounting } from './endpoints/count-tokens.ts'
import { explain } from './endpoints/explain.ts'
import { storedAnswer } from './endpoints/stored-responses.ts'
import { storedInteraction } from './endpoints/interactions.ts'
import { answerUnimplemented } from './endpoints/unimplemented.ts'
import { handlePlain } from './operations/handle.ts'
import { handleRealtime } from './realtime/handle.ts'
import { handleResponsesSocket } from './realtime/responses/handle.ts'
import { asksForRealtime } from './realtime/upgrades.ts'
import { serveImages, serveTasks, taskBases } from './tasks/routes.ts'
import { chatPaths, dialectOfPath, interactionBases, plainPaths, relayBases, unimplementedPaths } from './routes.ts'

export type { RelayServices } from './request/call.ts'
export { refusalOfPath } from './refusal-of-path.ts'
export { languageOf } from './request/receive.ts'
export { asksForRealtime, asksForSocket, serveUpgrades } from './realtime/upgrades.ts'

/** Everything that callers' programs call; a console node serves only the playground and the images it shows. */
export function createRelayRouter(services: RelayServices, paths: 'all' | 'playground' = 'all'): Router {
  const router = Router()
  servePlayground(services, router)
  router.use([...relayBases, '/rerank', '/dashboard/billing', ...taskBases], allowAnyOrigin)
  serveImages(services, router)
  if (paths === 'playground') return router
  for (const prefix of ['', '/hf']) {
    serveChat(services, router, prefix)
    servePlain(services, router, prefix)
    serveLocal(services, router, prefix)
    router.get(`${prefix}/v1/realtime`, (req, res) => handleRealtime(services, { req, res }))
    router.get(`${prefix}/v1/responses`, (req, res, next) =>
      asksForRealtime(req) ? handleResponsesSocket(services, { req, res }) : next(),
    )
  }
  for (const kind of ['subscription', 'usage'] as const) {
    router.get([`/v1/dashboard/billing/${kind}`, `/dashboard/billing/${kind}`], (req, res) =>
      answerBilling(services, kind, { req, res }),
    )
  }
  serveTasks(services, router)
  router.all(
    // Clients try the address that they were given; the console has no page there.
    ['/v1', '/v1beta', ...[...relayBases, ...taskBases].map((base) => `${base}/*path`)],
    (req, res) => unknownPath(services, req, res),
  )
  return router
}

function serveChat(services: RelayServices, router: Router, prefix: string): void {
  for (const { path, dialect, read } of chatPaths) {
    router.post(prefix + path, (req, res) => {
      const { asJsonArray = false, ...fromPath } = read?.(texts(req.params), req.query) ?? {}
      return handleChat(services, { dialect, path: fromPath, asJsonArray, identify: authenticate }, { req, res })
    })
  }
}

/**
 * The chat paths that are always written alike, found at once: nearly all calls go there, and each would look through every path
 * in front of its own. Whatever is written otherwise goes the long way.
 */
export function createChatShortcut(services: RelayServices) {
  const fixed = chatPaths.filter(({ read }) => !read)
  const routes = new Map(
    ['', '/hf'].flatMap((prefix) => fixed.map(({ path, dialect }) => [prefix + path, { dialect, ...plainRoute }])),
  )
  return {
    takes: ({ method, url }: IncomingMessage): boolean => method === 'POST' && routes.has(url ?? ''),
    /** Of a request that it takes. */
    answer: (req: Request, res: Response): Promise<void> => {
      // Spans are named by it; no router was there to say.
      req.route = { path: req.url }
      endUnreadBody(services.bodies.limits, req, res)
      setAnyOrigin(req, res)
      return handleChat(services, routes.get(req.url) as ChatRoute, { req, res })
    },
  }
}

const plainRoute = { path: {}, asJsonArray: false, identify: authenticate }

function servePlain(services: RelayServices, router: Router, prefix: string): void {
  for (const { path, ...route } of plainPaths) {
    router.post(prefix + path, (req, res) => {
      const { model } = texts(req.params)
      return handlePlain(services, { ...route, model }, { req, res })
    })
  }
}

/** What the gateway answers by itself. */
function serveLocal(services: RelayServices, router: Router, prefix: string): void {
  router.post(`${prefix}/v1/explain`, (req, res) => explain(services, { req, res }))
  router.post(`${prefix}/v1/messages/count_tokens`, (req, res) =>
    countTokens(services, { style: claudeCounting, model: undefined }, { req, res }),
  )
  serveBatches(services, router, `${prefix}/v1/messages/batches`)
  router.post(`${prefix}/v1/responses/input_tokens`, (req, res) =>
    countTokens(services, { style: responsesCounting, model: undefined }, { req, res }),
  )
  router.post(
    [`${prefix}/v1beta/models/*model\\:countTokens`, `${prefix}/v1/models/*model\\:countTokens`],
    (req, res) => countTokens(services, { style: geminiCounting, model: texts(req.params)['model'] }, { req, res }),
  )
  for (const path of ['/v1/models', '/v1beta/models', '/v1beta/openai/models']) {
    router.get(prefix + path, (req, res) => listModels(services, { req, res }))
    router.get(`${prefix}${path}/*model`, (req, res) => retrieveModel(services, { req, res }))
  }
  for (const path of ['', '/input_items']) {
    router.get(`${prefix}/v1/responses/:id${path}`, (req, res) =>
      storedAnswer(services, { method: 'GET', path }, { req, res }),
    )
  }
  router.delete(`${prefix}/v1/responses/:id`, (req, res) =>
    storedAnswer(services, { method: 'DELETE', path: '' }, { req, res }),
  )
  for (const conversationPath of conversationPaths) {
    const { method, path } = conversationPath
    router[method](prefix + path, (req, res) => answerConversation(services, conversationPath, { req, res }))
  }
  for (const method of ['get', 'delete'] as const) {
    const paths = interactionBases.map((base) => `${prefix}${base}/:id`)
    router[method](paths, (req, res) => storedInteraction(services, method, { req, res }))
  }
  for (const { method, path } of unimplementedPaths) {
    router[method](prefix + path, (req, res) => answerUnimplemented(services, req, res))
  }
}

function serveBatches(services: RelayServices, router: Router, base: string): void {
  router.post(base, (req, res) => createBatch(services, { req, res }))
  router.get(base, (req, res) => listOwnBatches(services, { req, res }))
  router.get(`${base}/:id`, (req, res) => answerAboutBatch(services, 'read', { req, res }))
  router.get(`${base}/:id/results`, (req, res) => answerAboutBatch(services, 'results', { req, res }))
  router.post(`${base}/:id/cancel`, (req, res) => answerAboutBatch(services, 'cancel', { req, res }))
  router.delete(`${base}/:id`, (req, res) => answerAboutBatch(services, 'delete', { req, res }))
}

function servePlayground(services: RelayServices, router: Router): void {
  router.post('/pg/chat/completions', (req, res) =>
    handleChat(
      services,
      {
        dialect: openAiChat,
        path: {},
        asJsonArray: false,
        identify: identifyPlayground,
        prepare: preparePlayground,
      },
      { req, res },
    ),
  )
}

const exposedHeaders = ['x-request-id', 'x-translation-loss', loweredHeader, 'retry-after', ...limitHeaders].join(', ')

/** Any web page may call, never with cookies. */
function setAnyOrigin(req: Request, res: Response): void {
  res.setHeader('access-control-allow-origin', '*')
  res.setHeader('access-control-allow-headers', req.get('access-control-request-headers') ?? '*')
  res.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS')
  res.setHeader('access-control-expose-headers', exposedHeaders)
}

/** A preflight needs no key. */
function allowAnyOrigin(req: Request, res: Response, next: NextFunction): void {
  setAnyOrigin(req, res)
  if (req.method === 'OPTIONS') {
    res.status(204).end()
    return
  }
  next()
}

function unknownPath(services: RelayServices, req: Request, res: Response): void {
  const dialect = dialectOfPath(req.path)
  const incoming = receive(services, dialect, { req, res })
  const error = new DomainError('relay.path_unknown', { method: req.method, path: req.path })
  if (!/^\/v1(\/|$)/.test(withoutAlias(req.path))) return reportError(services, incoming, error)
  // Clients of the family compare this very body.
  res.status(404).json({ error: { message: error.message, type: 'invalid_request_error', param: '', code: '' } })
}

const texts = (params: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : String(value)]),
  )
