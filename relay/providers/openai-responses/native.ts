import { splitEffort } from '../openai-compatible/model-families.ts'
import { knownNames } from '../openai-compatible/request.ts'
import type { NativeBody, NativeDialect, ProviderCall } from '../types.ts'
import { readCompaction } from '#relay/chat/seals/compaction.ts'
import { isSealed } from '#relay/chat/seals/envelope.ts'
import { sealLoss } from '#relay/chat/seals/open-seals.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { isEmptyResponse, nameless } from '../shared/answer-record.ts'
import { inspectUnreadable, nothingDelivered } from '../shared/inspect-unreadable.ts'
import { type Json, recordOf, recordsOf, textOf } from '../shared/json.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { storedIds } from './stored-ids.ts'
import { failureIn } from './failure.ts'
import { listenToResponses } from './listen.ts'
import { isResponsesOpening } from './opening.ts'
import { fromResponse } from './response.ts'
import { usageInOnePiece, usageOf } from './usage.ts'

export type ResponsesHost = {
  url: (call: ProviderCall) => string
  mayLack?: NativeDialect['mayLack']
  mayRefuse?: NativeDialect['mayRefuse']
  headers: (call: ProviderCall) => Record<string, string>
}

function nativeRequest(host: ResponsesHost, native: NativeBody, call: ProviderCall) {
  const body: Json = { ...native.json }
  const { model, effort } = splitEffort(call.model, knownNames(call.channel.type))
  body['model'] = model
  if (effort !== undefined) body['reasoning'] = { ...recordOf(body['reasoning']), effort }
  const losses = dropForeignReasoning(body, call.isRefusedProof)
  openCompactions(body)
  dropForeignIds(body)
  if ((body['stream'] === true) !== call.stream) body['stream'] = call.stream
  return {
    method: 'POST' as const,
    url: host.url(call),
    headers: host.headers(call),
    body: rewriteBody(native, body),
    losses,
  }
}

/**
 * Tools that only their maker's own platform knows: LM Studio and vLLM refuse them, llama.cpp passes over them and the model never sees
 * a tool of an MCP server.
 */
const offersNamespaces = ({ tools }: Json): boolean =>
  recordsOf(tools).some(({ type }) => type === 'namespace' || type === 'tool_search')

/** Models that servers between may well hand on to their maker, by its names or by those of deployments and tuned models. */
const isMakersModel = (model: string): boolean => /(^|[/.:_-])(gpt-?\d|chatgpt|codex|o\d)/i.test(model)

/** Items that this vendor made beside reasoning, which it looks for by their ids. */
const besideReasoning = new Set<unknown>(['message', 'function_call', 'custom_tool_call'])

/** Reasoning of other vendors, sealed for them: this one would refuse it as not its own; and what it has refused. */
function dropForeignReasoning(body: Json, isRefused: ProviderCall['isRefusedProof']): string[] {
  const input: unknown = body['input']
  if (!Array.isArray(input)) return []
  let refused = false
  const isForeign = (item: unknown): boolean => {
    const { type, encrypted_content: data } = recordOf(item) ?? {}
    if (typeof data !== 'string' || isSealed(data)) return typeof data === 'string'
    if (type !== 'reasoning' || isRefused?.(data) !== true) return false
    refused = true
    return true
  }
  const left = input.filter((item) => !isForeign(item))
  if (left.length === input.length) return []
  const unnamed = (item: unknown): unknown => {
    const { id, ...rest } = recordOf(item) ?? {}
    return id !== undefined && besideReasoning.has(rest['type']) ? rest : item
  }
  // An item that is known by its id is refused without the reasoning that it was made with.
  body['input'] = refused ? left.map(unnamed) : left
  return [sealLoss]
}

/** How the dialect's maker begins the names of what it makes. */
const ownIds: Readonly<Record<string, RegExp>> = {
  message: /^msg[\w-]{0,61}$/,
  reasoning: /^rs[\w-]{0,62}$/,
  function_call: /^fc[\w-]{0,62}$/,
  function_call_output: /^fc[\w-]{0,62}$/,
  custom_tool_call: /^ctc[\w-]{0,61}$/,
  custom_tool_call_output: /^ctc[\w-]{0,61}$/,
  web_search_call: /^ws[\w-]{0,62}$/,
}

/** What others of this dialect name their own way is refused ("Expected an ID that begins with 'fc'"), and needs no name. */
function dropForeignIds(body: Json): void {
  const input: unknown = body['input']
  if (!Array.isArray(input)) return
  const fitted = input.map((item: unknown): unknown => {
    const { id, ...rest } = recordOf(item) ?? {}
    const own = ownIds[textOf(rest['type'] ?? 'message') ?? '']
    return typeof id !== 'string' || !own || own.test(id) ? item : rest
  })
  if (fitted.some((item, index) => item !== input[index])) body['input'] = fitted
}

/** Compactions that were written here are read by no vendor: what they hold is said in a message. */
function openCompactions(body: Json): void {
  const input: unknown = body['input']
  if (!Array.isArray(input)) return
  const opened = input.map((item: unknown): unknown => {
    const text = readCompaction(recordOf(item)?.['encrypted_content'])
    return text === undefined ? item : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  })
  if (opened.some((item, index) => item !== input[index])) body['input'] = opened
}

/** Calls of the vendor's own tools, approvals that it asks for and compactions are answers too. */
const isOnlySpoken = (json: unknown): boolean =>
  recordsOf(recordOf(json)?.['output']).every(({ type }) => type === 'message' || type === 'reasoning')

function inspect(json: unknown): ReturnType<NativeDialect['inspect']> {
  const usage = usageInOnePiece(recordOf(json) ?? {})
  const reported = usage ? { usage } : {}
  try {
    const response = fromResponse(json, nameless)
    const keeps = storedIds(recordOf(json) ?? {})
    return {
      ...reported,
      keeps,
      delivered: () => deliveredBy(response),
      empty: isEmptyResponse(response) && isOnlySpoken(json),
    }
  } catch (error) {
    return inspectUnreadable(error, reported)
  }
}

/** A compacted conversation, of which little is said that could be counted. */
function inspectCompaction(json: unknown): ReturnType<NativeDialect['inspect']> {
  const answer = recordOf(json) ?? {}
  const usage = usageOf(answer)
  const failure = failureIn(answer)
  if (!failure && !usage && !Array.isArray(answer['output'])) throw new MalformedUpstream('the answer has no output')
  return {
    ...(usage ? { usage } : {}),
    ...(failure ? { failure } : {}),
    // Only the account that made a compaction can read it.
    keeps: storedIds(answer),
    ...nothingDelivered,
    empty: recordsOf(answer['output']).length === 0,
  }
}

/** Compaction by a host that does it itself. Its answer is never streamed. */
export const nativeCompaction = (host: ResponsesHost): NativeDialect => ({
  mayLack: () => true,
  request: (body, call) => {
    const { url, ...request } = nativeRequest(host, body, { ...call, stream: false })
    const compact = new URL(url)
    compact.pathname += '/compact'
    return { ...request, url: compact.href }
  },
  listen: () => listenToResponses(),
  isOpening: isResponsesOpening,
  inspect: inspectCompaction,
})

/** The responses dialect of any host that speaks it. */
export const nativeResponses = (host: ResponsesHost): NativeDialect => ({
  mayLack: host.mayLack,
  mayRefuse: host.mayRefuse,
  missesTools: (body, call) =>
    host.mayRefuse?.(call.channel) === true && offersNamespaces(body) && !isMakersModel(call.model),
  request: (body, call) => nativeRequest(host, body, call),
  listen: () => listenToResponses(),
  isOpening: isResponsesOpening,
  inspect,
  stored: ({ method, id, path, query }, call) => {
    const url = new URL(host.url(call))
    url.pathname += `/${encodeURIComponent(id)}${path}`
    for (const [name, value] of new URLSearchParams(query)) url.searchParams.append(name, value)
    const { 'content-type': _, ...headers } = host.headers(call)
    return { method, url: url.href, headers }
  },
})
