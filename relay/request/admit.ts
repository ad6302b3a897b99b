import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '#core/errors.ts'
import { autoGroup } from '#core/auto-group.ts'
import { autoGroups } from '#core/groups.ts'
import { channelStatus } from '#core/statuses.ts'
import { isAllowedAddress } from '#features/client-address/service.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import { unseenInput } from '#relay/counting/unseen-input.ts'
import { plansOf } from '#relay/routing/select.ts'
import { withEarlierSteps } from '#relay/routing/interactions.ts'
import { withEarlierTurns } from '#relay/routing/local-responses.ts'
import { placeOfCall } from '#relay/routing/stored-responses.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'
import { lossNames } from '#relay/chat/losses.ts'
import type { Call, CallBody, CallCore, Caller, CallSession, ChatRoute, Incoming, RelayServices } from './call.ts'
import { readBody } from './read-body.ts'

type Arrival = { incoming: Incoming; route: ChatRoute; caller: Caller }

/** The checks from the caller's address to the model, in the order of docs/reference/admission.md, and the request read. */
export async function admitChat(services: RelayServices, { incoming, route, caller: known }: Arrival): Promise<Call> {
  admitAddress(known, incoming.ip)
  const read = await readBody(services, incoming)
  const { caller, body: given } = route.prepare?.(services, known, read) ?? { caller: known, body: read }
  const { body: asked, losses, dialect } = await inOwnForm(route.dialect, given)
  const { body, earlier } = dialect.keepsResponses
    ? await withEarlierTurns(services, { userId: caller.user.id, body: asked, incoming })
    : dialect.keepsInteractions
      ? await withEarlierSteps(services, { userId: caller.user.id, body: asked, incoming })
      : { body: asked }
  const request = dialect.parse(body.json, route.path)
  const admitted = admitCall(services, caller, request.model)
  for (const model of modelsOfTools(request)) admitBeside(services, { caller, ...admitted }, model)
  const session = sessionOf({ req: incoming.req, body, caller })
  const storedAt = await placeOfCall(services, { userId: caller.user.id, dialect, body: body.json })
  return {
    ...incoming,
    dialect,
    caller,
    body,
    dropped: losses.length === 0 ? read.dropped : lossNames([...read.dropped, ...losses]),
    session,
    storedAt,
    earlier,
    request,
    ...admitted,
    stream: request.stream,
    asJsonArray: route.asJsonArray,
    estimate: cheapPromptTokens(request),
    unseen: unseenInput(request),
  }
}

/** The body in the form of the dialect that its path is for, and the dialect that its caller reads. */
async function inOwnForm(
  dialect: CallerDialect,
  body: CallBody,
): Promise<{ body: CallBody; losses: string[]; dialect: CallerDialect }> {
  const made = dialect.fromOtherForm?.(body.json)
  if (!made) return { body, losses: [], dialect }
  const { holding } = body
  await holding?.raise(holding.bytes() + 2 * body.bytes.length)
  return { ...made, body: { json: made.body, bytes: Buffer.from(JSON.stringify(made.body)), holding } }
}

/**
 * The addresses that the token may be used from.
 * @throws {DomainError} relay.ip_forbidden
 */
export function admitAddress(caller: Caller, ip: string): void {
  const entries = caller.token?.allowIps ?? ''
  if (entries !== '' && !isAllowedAddress(ip, entries)) throw new DomainError('relay.ip_forbidden')
}

/**
 * The group the call asks to run in, which may be `auto`.
 * @throws {DomainError} relay.group_disabled, relay.group_forbidden
 */
export function admitGroup(services: RelayServices, caller: Caller): string {
  const { group, user } = caller
  if (group === '') return user.group
  if (!isOpenTo(services, caller, group)) throw new DomainError('relay.group_forbidden', { group })
  if (group !== autoGroup && !Object.hasOwn(services.options.get('GroupRatio'), group))
    throw new DomainError('relay.group_disabled', { group })
  return group
}

/** Whether the caller may name a group at all. */
export const isOpenTo = ({ options }: RelayServices, { user }: Caller, group: string): boolean =>
  group === user.group ||
  (group === autoGroup
    ? autoGroups(options, user.group).length > 0
    : Object.hasOwn(options.get('UserUsableGroups'), group))

/**
 * The group a call runs in and is charged by: with `auto` the first of its groups that has a channel for the model. Where
 * none has one it stays `auto`, and is refused as a group without a channel.
 */
export function groupInUse(
  services: RelayServices,
  caller: Caller,
  input: { group: string; model: string; pinnedChannel: ChannelRow | null },
): string {
  const { group, model, pinnedChannel } = input
  if (group !== autoGroup) return group
  const groups = autoGroups(services.options, caller.user.group)
  if (pinnedChannel) return groups.find((name) => pinnedChannel.groups.includes(name)) ?? groups[0] ?? group
  return groups.find((name) => plansOf(services, { model, group: name }).length > 0) ?? group
}

/**
 * The channel a key's suffix names.
 * @throws {DomainError} relay.pinned_channel_disabled, relay.pinned_channel_invalid
 */
export function admitPin(services: RelayServices, caller: Caller): ChannelRow | null {
  if (caller.pinnedChannelId === null) return null
  const channel = services.channels.channel(caller.pinnedChannelId)
  if (!channel) throw new DomainError('relay.pinned_channel_invalid')
  if (channel.status !== channelStatus.enabled) throw new DomainError('relay.pinned_channel_disabled')
  return channel
}

const longestModelName = 128

/**
 * A name goes into the log, its indexes and the hourly sums; no model is called by a longer one.
 * @throws {DomainError} relay.model_name_too_long
 */
export function admitModelName(model: string): void {
  if (model.length > longestModelName && [...model].length > longestModelName)
    throw new DomainError('relay.model_name_too_long', { most: longestModelName })
}

/**
 * The models a token may use, by the name the caller wrote or that name without a channel prefix.
 * @throws {DomainError} relay.model_forbidden, relay.model_none_allowed
 */
export function admitModel(services: RelayServices, caller: Caller, input: { group: string; model: string }): void {
  const limits = caller.token?.modelLimits
  if (!limits) return
  if (limits.size === 0) throw new DomainError('relay.model_none_allowed')
  if (limits.has(input.model)) return
  const prefix = services.channels.prefixesOf(input.group).find((known) => input.model.startsWith(known))
  if (prefix !== undefined && limits.has(input.model.slice(prefix.length))) return
  throw new DomainError('relay.model_forbidden', { model: input.model })
}

/** Every check from the model's name to the model: the group a call runs in and is charged by, and the channel its key names. */
export function admitCall(
  services: RelayServices,
  caller: Caller,
  model: string,
): { model: string; group: string; pinnedChannel: ChannelRow | null } {
  admitModelName(model)
  const wanted = admitGroup(services, caller)
  const pinnedChannel = admitPin(services, caller)
  const group = groupInUse(services, caller, { group: wanted, model, pinnedChannel })
  if (!pinnedChannel) admitModel(services, caller, { group, model })
  return { model, group, pinnedChannel }
}

/**
 * A model that works for a call beside its own, such as the one that draws for a tool: for the token it is a model like any other.
 * @throws {DomainError} relay.model_name_too_long, relay.model_forbidden
 */
export function admitBeside(
  services: RelayServices,
  { caller, group, pinnedChannel }: Pick<CallCore, 'caller' | 'group' | 'pinnedChannel'>,
  model: string,
): void {
  admitModelName(model)
  if (!pinnedChannel) admitModel(services, caller, { group, model })
}

const modelsOfTools = ({ tools }: Call['request']): string[] =>
  tools.flatMap((tool) => {
    const model = tool.type === 'vendor' && isObject(tool.value) ? tool.value['model'] : undefined
    return typeof model === 'string' && model !== '' ? [model] : []
  })

type Json = Record<string, unknown>

const longestName = 128

const nameOf = (value: unknown): string | undefined => {
  const text = Array.isArray(value) ? (value[0] as unknown) : value
  return typeof text === 'string' && text !== '' ? text.slice(0, longestName) : undefined
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Headers by which programs and agents name a session: ours, Codex's, Claude Code's, opencode's, and what gateways agree on. */
const sessionHeaders = [
  'x-session-id',
  'session_id',
  'session-id',
  'x-claude-code-session-id',
  'x-opencode-session',
  'x-session-affinity',
  'conversation_id',
]
const agentHeaders = ['x-claude-code-agent-id', 'x-agent-id']
const parentAgentHeaders = ['x-claude-code-parent-agent-id']
const projectHeaders = ['x-opencode-project', 'x-project-id']

const firstOf = (headers: IncomingHttpHeaders, names: readonly string[]): string | undefined =>
  names.map((name) => nameOf(headers[name])).find((name) => name !== undefined)

/** What Claude's clients say of who calls: a name, or a text that holds the session's too. */
function sessionInMetadata(metadata: unknown): string | undefined {
  const given = isObject(metadata) ? metadata['user_id'] : undefined
  if (typeof given !== 'string') return undefined
  const text = given.slice(0, 2000)
  const inJson = /"session_id"\s*:\s*"([^"]+)"/.exec(text)?.[1]
  const [, ...parts] = text.split('_session_')
  const atEnd = parts.at(-1)
  return nameOf(inJson ?? (atEnd !== undefined && /^[\w-]+$/.test(atEnd) ? atEnd : given))
}

/** Shorter prompts no vendor keeps, so that nothing is gained by their going to one place. */
const shortestCached = 4096
const longestOpening = 8192

const opening = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, longestOpening)

const isUsers = (message: unknown): boolean => isObject(message) && (message['role'] ?? 'user') === 'user'

/** How a conversation begins, which is the same in each of its turns: its instructions and the first words of its user. */
function openingOf({ messages, input, contents, system, instructions, systemInstruction }: Json): string | undefined {
  const turns = [messages, input, contents].find((list) => Array.isArray(list)) as unknown[] | undefined
  const first = turns?.findIndex(isUsers) ?? -1
  if (!turns || first < 0) return undefined
  const lead = opening(system ?? instructions ?? systemInstruction ?? '')
  return `${lead}\n${turns
    .slice(0, first + 1)
    .map(opening)
    .join('\n')}`
}

type SessionCall = Pick<CallCore, 'req' | 'body' | 'caller'>

function namedSession({ req, body }: SessionCall): string | undefined {
  return (
    firstOf(req.headers, sessionHeaders) ??
    nameOf(body.json['prompt_cache_key']) ??
    sessionInMetadata(body.json['metadata'])
  )
}

function sessionByOpening({ body, caller }: SessionCall): string | undefined {
  if (body.bytes.length < shortestCached) return undefined
  const text = openingOf(body.json)
  return text === undefined ? undefined : `auto-${hash('sha256', `${caller.user.id}\n${text}`).slice(0, 24)}`
}

/**
 * What the caller calls its session, so that its calls keep their channel and find their prompt cached upstream; without a
 * name how its conversation begins, where that is long enough to be cached.
 */
export function sessionOf(call: SessionCall): CallSession {
  const session = namedSession(call) ?? sessionByOpening(call)
  const agent = firstOf(call.req.headers, agentHeaders)
  const parentAgent = firstOf(call.req.headers, parentAgentHeaders)
  const project = firstOf(call.req.headers, projectHeaders)
  return {
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(parentAgent === undefined ? {} : { parent_agent: parentAgent }),
    ...(project === undefined ? {} : { project }),
  }
}
