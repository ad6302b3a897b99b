import { DomainError } from '#core/errors.ts'
import { parseWeighed } from '#core/exact-json.ts'
import { weighJson } from '#core/json-weight.ts'
import { networkOf } from '#features/client-address/service.ts'
import { type Body, readBody as readRequestBody } from '#features/request-bodies/read-body.ts'
import { isObject } from '#relay/chat/json.ts'
import { lossNames } from '#relay/chat/losses.ts'
import type { CallBody, Incoming, RelayServices } from './call.ts'

/** With the names of what stood in it and no upstream is sent, as a header can hold them. */
export type ReadBody = CallBody & { dropped: string[] }

/**
 * Reads the whole body once, gzip, deflate and br undone; the bytes are kept so that every attempt can send them again.
 * @throws {DomainError} relay.body_too_large, relay.body_invalid, input.no_room, input.address_full, input.too_slow
 */
export async function readBody(services: RelayServices, incoming: Incoming): Promise<ReadBody> {
  const body = await readBytes(services, incoming)
  return { ...(await parseJson(body)), holding: body.holding }
}

/** Some editors and shells put one in front of what they send; no JSON reader upstream takes it. */
const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** The whole body as it came, decompressed. */
export async function readBytes({ bodies }: RelayServices, { req, res, ip }: Incoming): Promise<Body> {
  const rules = { address: networkOf(ip), largest: bodies.limits.largest }
  const body = await readRequestBody(bodies, { req, res }, rules).catch((error: unknown) => {
    throw asRefusal(error)
  })
  return { ...body, bytes: withoutByteOrderMark(body.bytes) }
}

/** In the words that callers know. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  switch (error.code) {
    case 'input.too_large':
      return new DomainError('relay.body_too_large')
    case 'input.unreadable':
    case 'input.encoding_unknown':
      return new DomainError('relay.body_invalid', { detail: 'the body cannot be read' }, { cause: error })
    default:
      return error
  }
}

/** @throws {DomainError} relay.body_invalid, input.no_room, input.address_full */
export async function parseJson({ bytes, holding }: Body): Promise<Omit<ReadBody, 'holding'>> {
  const weight = weighJson(bytes)
  if (weight.problem) throw new DomainError('relay.body_invalid', { detail: `the body is ${weight.problem}` })
  await holding.raise(bytes.length + weight.bytes)
  let value: unknown
  try {
    value = parseWeighed(bytes, weight)
  } catch (error) {
    throw new DomainError('relay.body_invalid', { detail: 'the body is not valid JSON' }, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('relay.body_invalid', { detail: 'the body must be a JSON object' })
  }
  const given = { ...value } as Record<string, unknown>
  const { json, dropped: found } = withoutMisleading(value as Record<string, unknown>)
  const dropped = lossNames(found)
  const isChanged = Object.keys(json).some((name) => json[name] !== given[name])
  if (!isChanged) return { bytes, json, fields: weight.fields, dropped }
  await holding.raise(3 * bytes.length + weight.bytes)
  return { bytes: Buffer.from(JSON.stringify(json)), json, dropped }
}

/**
 * Names by which callers of other gateways aim a call: an upstream that is one itself would send our key where they point, or
 * answer with one of the models that they name instead, which the call was neither admitted for nor is priced by. What is missing
 * here is not sent on.
 */
export const routingNames = [
  'api_base',
  'base_url',
  'api_key',
  'custom_host',
  'custom_llm_provider',
  'extra_headers',
  'models',
  'model_list',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'context_window_fallback_dict',
  'user_config',
  'router_settings_override',
  'route',
  'preset',
  'prompt_id',
]

/** Where gateways read the same, or read the body's own fields anew, and whether a field of it says something else. */
export const routingPlaces: Readonly<Record<string, (name: string) => boolean>> = {
  providerOptions: (name) => name !== 'gateway',
  extra_body: (name) => name === 'google',
}

type Json = Record<string, unknown>

/** A call without what would aim it elsewhere, cost a multiple or pass for another field, and the names of what it is without. */
export function withoutMisleading(json: Json): { json: Json; dropped: string[] } {
  const dropped: string[] = []
  for (const drop of [dropLookalikes, dropRouting, dropOtherModels, dropFasterService]) {
    drop(json, (name) => dropped.push(name))
  }
  return { json, dropped }
}

type Note = (name: string) => void

function dropField(json: Json, name: string, note: Note): void {
  if (!Object.hasOwn(json, name)) return
  delete json[name]
  note(name)
}

function dropRouting(json: Json, note: Note): void {
  for (const name of routingNames) dropField(json, name, note)
  for (const [place, isOther] of Object.entries(routingPlaces)) {
    const given = json[place]
    if (!isObject(given)) continue
    const others = Object.entries(given).filter(([name]) => isOther(name))
    const routing = Object.keys(given).filter((name) => !isOther(name))
    for (const name of routing) note(`${place}.${name}`)
    if (others.length === 0) delete json[place]
    else if (routing.length > 0) json[place] = Object.fromEntries(others)
  }
}

/** Entries of lists by which OpenRouter and Anthropic have other models work for a call beside the one that is named. */
const otherModels: Readonly<Record<string, (entry: Record<string, unknown>) => boolean>> = {
  plugins: ({ id }) =>
    typeof id !== 'string' || !/^(web|file-parser|response-healing|context-compression|moderation)$/.test(id),
  tools: ({ type }) =>
    typeof type === 'string' && /^(openrouter:(?!web_search|web_fetch|datetime)|advisor_\d)/.test(type),
}

/** Vendors refuse these where no tool is left. */
const besideTools = ['tool_choice', 'parallel_tool_calls']

function dropOtherModels(json: Json, note: Note): void {
  for (const [place, isOther] of Object.entries(otherModels)) {
    const list: unknown = json[place]
    if (!Array.isArray(list)) continue
    const left = list.filter((entry) => {
      const isDropped = isObject(entry) && isOther(entry)
      if (isDropped) note(`${place}.${[entry['type'], entry['id']].find((name) => typeof name === 'string') ?? 'id'}`)
      return !isDropped
    })
    if (left.length === list.length) continue
    if (left.length > 0) json[place] = left
    else for (const name of place === 'tools' ? [place, ...besideTools] : [place]) delete json[name]
  }
}

/** Vendors serve the same model faster for more than its price, which nothing here is priced by. Each is looked for in the field's JSON. */
const fasterService: Readonly<Record<string, RegExp>> = {
  service_tier: /priority|fast/i,
  serviceTier: /priority|fast/i,
  speed: /^"fast"$/i,
  performanceConfig: /optimized/i,
}

function dropFasterService(json: Json, note: Note): void {
  for (const [name, faster] of Object.entries(fasterService)) {
    if (Object.hasOwn(json, name) && faster.test(JSON.stringify(json[name]))) dropField(json, name, note)
  }
}

/** What a name is taken for where letter case and widths are one. */
export const plainName = (name: string): string => name.normalize('NFKC').toLowerCase()

/**
 * `Model` beside `model`: some upstreams do not tell the two apart and take the later, so that another model would answer
 * than the one that is priced. What is missing here is not sent on.
 */
function dropLookalikes(json: Json, note: Note): void {
  for (const name of Object.keys(json)) {
    if (/^[a-z0-9_]*$/.test(name)) continue
    const plain = plainName(name)
    if (plain !== name && Object.hasOwn(json, plain)) dropField(json, name, note)
  }
}
