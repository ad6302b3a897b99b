import { expect } from 'vitest'
import { receiptViolations } from '#test/support/receipts.ts'
import type { App } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'

type ErrorForm = { message: string; kind: string; code?: unknown }

/** How a caller of one dialect asks and how it reads a refusal. */
export type CallerDialect = {
  dialect: string
  path: (model: string, stream: boolean) => string
  body: (model: string, text: string, stream: boolean) => Record<string, unknown>
  /** The refusal in a body of exactly this dialect's form; throws where it has another. */
  readError: (json: unknown) => ErrorForm
  /** The dialect's own word for a status of ours. */
  kindOf: (status: number) => string
  /** The status for a model that no channel has. */
  unknownModel: number
  /** How an answer that came to its own end closes its stream. */
  closing: RegExp
  /** What it is sent to keep a stream open. */
  ping: string
}

const fields = (value: unknown, names: string[]): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) throw new Error(`no object: ${JSON.stringify(value)}`)
  const found = Object.keys(value).toSorted()
  if (found.join() !== names.toSorted().join()) throw new Error(`fields ${found.join()} instead of ${names.join()}`)
  return value as Record<string, unknown>
}

function readOpenAiError(json: unknown): ErrorForm {
  const { error } = fields(json, ['error'])
  const { message, type, code } = fields(error, ['message', 'type', 'param', 'code'])
  return { message: String(message), kind: String(type), code }
}

const ofOpenAi = {
  readError: readOpenAiError,
  kindOf: () => 'gateway_error',
  unknownModel: 503,
  ping: ': PING\n\n',
}

export const callerDialects: CallerDialect[] = [
  {
    dialect: 'chat completions',
    path: () => '/v1/chat/completions',
    body: (model, text, stream) => ({ model, messages: [{ role: 'user', content: text }], ...(stream && { stream }) }),
    closing: /data: \[DONE\]\n\n$/,
    ...ofOpenAi,
  },
  {
    dialect: 'responses',
    path: () => '/v1/responses',
    body: (model, text, stream) => ({ model, input: text, ...(stream && { stream }) }),
    closing: /event: response\.completed\ndata: .*\n\n$/,
    ...ofOpenAi,
  },
  {
    dialect: 'messages',
    path: () => '/v1/messages',
    body: (model, text, stream) => ({
      model,
      max_tokens: 1000,
      messages: [{ role: 'user', content: text }],
      ...(stream && { stream }),
    }),
    readError: (json) => {
      const { type, error } = fields(json, ['type', 'error', 'request_id'])
      if (type !== 'error') throw new Error(`type ${String(type)}`)
      const { message, type: kind } = fields(error, ['type', 'message'])
      return { message: String(message), kind: String(kind) }
    },
    kindOf: (status) =>
      ({
        400: 'invalid_request_error',
        401: 'authentication_error',
        403: 'permission_error',
        404: 'not_found_error',
        413: 'request_too_large',
        429: 'rate_limit_error',
        504: 'timeout_error',
      })[status] ?? 'api_error',
    unknownModel: 404,
    closing: /event: message_stop\ndata: .*\n\n$/,
    ping: 'event: ping\ndata: {"type":"ping"}\n\n',
  },
  {
    dialect: 'generateContent',
    path: (model, stream) =>
      `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model, text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    readError: (json) => {
      const { error } = fields(json, ['error'])
      const { message, status } = fields(error, ['code', 'message', 'status', 'details'])
      return { message: String(message), kind: String(status) }
    },
    kindOf: (status) =>
      ({
        400: 'INVALID_ARGUMENT',
        401: 'UNAUTHENTICATED',
        403: 'PERMISSION_DENIED',
        404: 'NOT_FOUND',
        413: 'INVALID_ARGUMENT',
        429: 'RESOURCE_EXHAUSTED',
        503: 'UNAVAILABLE',
        504: 'DEADLINE_EXCEEDED',
      })[status] ?? 'INTERNAL',
    unknownModel: 404,
    closing: /"finishReason":"STOP".*\n\n$/,
    ping: 'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""}]}}],"usageMetadata":{}}\n\n',
  },
]

export const chat = callerDialects[0] as CallerDialect

type Ask = {
  token: TestToken
  model?: string
  text?: string
  stream?: boolean
  body?: unknown
  /** Instead of the token's. */
  key?: string
  signal?: AbortSignal
  headers?: Record<string, string>
}

/** One call in a dialect. */
export function say(app: App, by: CallerDialect, ask: Ask): Promise<Response> {
  const { model = 'gpt-4o-mini', text = 'hello', stream = false, headers = {}, signal } = ask
  const body = ask.body ?? by.body(model, text, stream)
  return app.relay(ask.key ?? ask.token, by.path(model, stream), body, signal ? { headers, signal } : { headers })
}

/** What must hold of every app when its tests are over. */
export async function closeWithoutViolations(app: App): Promise<void> {
  expect(await app.violations()).toEqual([])
  expect(await receiptViolations(app.pool)).toEqual([])
  await app[Symbol.asyncDispose]()
}

/** Consumption rows, oldest first. */
export const consumed = async (app: App) => (await app.logs()).filter((row) => row.type === 2)

/** What calls have set aside, in the database or in the memory of the app. */
export const openHolds = async ({ pool, services }: App): Promise<number> =>
  (await pool.query("select 1 from holds where status = 'open'")).rows.length + services.ledger.openCalls()

/**
 * Looks until it holds, and gives what was seen; where it is to be asserted alone, `expect.poll` is enough.
 * @throws After a minute in which it never held, with what was seen last.
 */
export async function eventually<Value>(look: () => Value | Promise<Value>, holds: (value: Value) => boolean) {
  const deadline = Date.now() + 60_000
  for (;;) {
    const value = await look()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`for a minute it did not become so: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** One chat call. It is made again, for some time, where a busy machine has it wait for too long: refused with 503, charged nothing. */
export async function sayAgainIfBusy(app: App, ask: Ask): Promise<{ status: number; text: string }> {
  for (let attempts = 1; ; attempts += 1) {
    const reply = await say(app, chat, ask)
    const text = await reply.text()
    if (reply.status !== 503 || attempts === 20) return { status: reply.status, text }
  }
}

/** Calls all at once, taking turns at two nodes. Resolves with how many were served and the refusals' statuses and texts. */
export const rushAt =
  (...nodes: [App, App]) =>
  async (token: TestToken, count: number, body: unknown): Promise<{ served: number; refusals: string[] }> => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => sayAgainIfBusy(nodes[index % 2 === 0 ? 0 : 1], { token, body })),
    )
    const refusals = answers.flatMap(({ status, text }) => (status === 200 ? [] : [`${status} ${text}`]))
    return { served: count - refusals.length, refusals }
  }
