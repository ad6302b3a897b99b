import { answerOf } from '../answer.ts'
import { has, numberOf, takeDirectives } from '../directives.ts'
import { asObject, asObjects, asText, Refusal, refuse, type Json } from '../prompt.ts'
import { json, type Call, type PlainOperation } from '../types.ts'
import { messages } from './messages.ts'

/** Batches of the workspace whose key made them: https://platform.claude.com/docs/en/api/messages/batches/create */
export const batchesPattern = /\/messages\/batches(?:\/([^/]+)(?:\/(results|cancel))?)?$/

const counted = (results: Json[], total: number) => {
  const of = (type: string) => results.filter((line) => asObject(line['result'])['type'] === type).length
  const ended = ['succeeded', 'errored', 'canceled', 'expired'].map((type) => [type, of(type)] as const)
  return { processing: total - results.length, ...Object.fromEntries(ended) }
}

/** Of keys with an @, what is behind it; any other has a workspace of its own. */
const workspaceOf = (key: string): string => key.split('@').at(-1) ?? key

type Batch = {
  id: string
  workspace: string
  requests: Json[]
  asked: number
  results: Json[] | null
  canceled: boolean
  read: number
  /** How many times its results lack a line; else what the call for them says. */
  lineless: number | undefined
  at: string
}

const shown = ({ id, requests, results, canceled, at }: Batch): Json => ({
  id,
  type: 'message_batch',
  processing_status: results ? 'ended' : canceled ? 'canceling' : 'in_progress',
  request_counts: counted(results ?? [], requests.length),
  ended_at: results ? at : null,
  created_at: at,
  expires_at: new Date(new Date(at).getTime() + 86_400_000).toISOString(),
  archived_at: null,
  cancel_initiated_at: canceled ? at : null,
  results_url: results ? `https://api.anthropic.com/v1/messages/batches/${id}/results` : null,
})

function checkRequests(requests: Json[]): void {
  if (requests.length === 0) refuse('requests: List should have at least 1 item after validation, not 0')
  const ids = new Set<string>()
  for (const [index, request] of requests.entries()) {
    const extra = Object.keys(request).find((name) => name !== 'custom_id' && name !== 'params')
    if (extra !== undefined) refuse(`requests.${index}.${extra}: Extra inputs are not permitted`)
    const id = asText(request['custom_id'])
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) refuse(`requests.${index}.custom_id: String should match pattern`)
    if (ids.has(id)) refuse(`requests.${index}.custom_id: Duplicate custom_id`)
    ids.add(id)
    if (asObject(request['params'])['stream'] === true) refuse(`requests.${index}.params.stream: not supported`)
  }
}

/** What becomes of one request: `status` lets it fail, `job` says that it was cancelled or expired. */
function resultOf(call: Call, request: Json): Json {
  const body = asObject(request['params'])
  const own: Call = { ...call, body }
  try {
    const prompt = messages.read(own)
    const { text, directives } = takeDirectives(prompt.text)
    const { job } = directives
    if (job === 'canceled' || job === 'expired') return { type: job }
    if (has(directives, 'status'))
      throw new Refusal({ status: numberOf(directives, 'status') ?? 500, message: 'failed' })
    const stopped = { ...prompt, text }
    const reply = messages.write(stopped, answerOf(stopped, directives), { ...own, directives })
    return { type: 'succeeded', message: reply.type === 'json' ? reply.body : {} }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const type = error.failure.status === 400 ? 'invalid_request_error' : 'api_error'
    return { type: 'errored', error: { type: 'error', error: { type, message: error.message } } }
  }
}

const lineOf = (call: Call, request: Json): Json => ({
  custom_id: request['custom_id'],
  result: resultOf(call, request),
})

/** Ends with the so manieth question after it (`polls`, 2), in another order than it was asked. */
function advance(batch: Batch, call: Call): void {
  if (batch.results) return
  batch.asked += 1
  if (batch.canceled) {
    batch.results = batch.requests.map(({ custom_id: id }) => ({ custom_id: id, result: { type: 'canceled' } }))
  } else if (batch.asked >= (numberOf(call.directives, 'polls') ?? 2)) {
    batch.results = batch.requests.map((request) => lineOf(call, request)).toReversed()
  }
}

const missing = (id: string): never => {
  throw new Refusal({ status: 404, message: `message_batch: ${id} not found` })
}

export const messageBatches: PlainOperation = {
  type: 'plain',
  reply: (call) => {
    const { method, path, stored, body, headers } = call
    const [, id, action] = batchesPattern.exec(path) ?? []
    const workspace = workspaceOf(asText(headers['x-api-key']))
    if (headers['anthropic-version'] === undefined) refuse('anthropic-version: header is required')
    if (id === undefined && method === 'GET') {
      const all = [...stored.values()]
        .map((one) => one as unknown as Batch)
        .filter((one) => one.workspace === workspace && one.requests)
      const from = all.toReversed()
      const after = from.findIndex((one) => one.id === call.query.get('after_id')) + 1
      const page = from.slice(after, after + Number(call.query.get('limit') ?? 20))
      for (const one of page) advance(one, call)
      const hasMore = from.length > after + page.length
      return json({
        data: page.map(shown),
        has_more: hasMore,
        first_id: page[0]?.id ?? null,
        last_id: page.at(-1)?.id ?? null,
      })
    }
    if (id === undefined) {
      const extra = Object.keys(body).find((name) => name !== 'requests')
      if (extra !== undefined) refuse(`${extra}: Extra inputs are not permitted`)
      const requests = asObjects(body['requests'])
      checkRequests(requests)
      const at = new Date().toISOString()
      const batch: Batch = {
        id: call.nextId('msgbatch_'),
        workspace,
        requests,
        asked: 0,
        results: null,
        canceled: false,
        read: 0,
        lineless: numberOf(call.directives, 'lineless'),
        at,
      }
      stored.set(batch.id, batch as unknown as Json)
      return json(shown(batch))
    }
    const batch = (stored.get(id) ?? missing(id)) as unknown as Batch
    if (batch.workspace !== workspace) missing(id)
    if (method === 'DELETE') {
      if (!batch.results) refuse('message_batch: only ended batches can be deleted')
      stored.delete(id)
      return json({ id, type: 'message_batch_deleted' })
    }
    if (action === 'cancel') {
      if (!batch.results) batch.canceled = true
      return json(shown(batch))
    }
    if (action === undefined) {
      advance(batch, call)
      return json(shown(batch))
    }
    if (!batch.results) refuse('message_batch: no results while it is in progress')
    const isCut = batch.read < (batch.lineless ?? numberOf(call.directives, 'lineless') ?? 0)
    batch.read += 1
    const results = batch.results ?? []
    const lines = (isCut ? results.slice(0, -1) : results).map((line) => `${JSON.stringify(line)}\n`).join('')
    return { type: 'bytes', contentType: 'application/x-jsonl', body: Buffer.from(lines) }
  },
}
