import { type Fields, isObject, parseObject } from '#relay/chat/json.ts'
import type { FunctionTool, JsonSchema, ToolCallPart } from '#relay/chat/request.ts'

/** Tools that models of this vendor are trained for; to any other model they are functions. */
type OwnKind = 'local_shell' | 'shell' | 'apply_patch' | 'tool_search'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const parameters = (properties: JsonSchema, required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const ownTools: Readonly<Record<OwnKind, FunctionTool>> = {
  local_shell: {
    type: 'function',
    name: 'local_shell',
    description: 'Runs a command on the machine of the user and returns its output.',
    parameters: parameters(
      { command: texts, working_directory: text, timeout_ms: { type: 'integer' }, env: { type: 'object' } },
      ['command'],
    ),
  },
  shell: {
    type: 'function',
    name: 'shell',
    description: 'Runs shell commands on the machine of the user and returns their output.',
    parameters: parameters(
      { commands: texts, timeout_ms: { type: 'integer' }, max_output_length: { type: 'integer' } },
      ['commands'],
    ),
  },
  apply_patch: {
    type: 'function',
    name: 'apply_patch',
    description:
      'Creates, updates or deletes a file. `diff` is a V4A diff: lines to keep begin with a blank, lines to remove with -, lines to add with +, sections with @@.',
    parameters: parameters(
      {
        operation: parameters(
          { type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
          ['type', 'path'],
        ),
      },
      ['operation'],
    ),
  },
  tool_search: {
    type: 'function',
    name: 'tool_search',
    description: 'Searches for tools that are not in the list yet. What it finds can be called from then on.',
    parameters: parameters({ query: text, limit: { type: 'integer' } }, ['query']),
  },
}

const isOwnKind = (type: unknown): type is OwnKind => typeof type === 'string' && Object.hasOwn(ownTools, type)

/** The vendor searches for tools itself where the caller does not say that it does. */
const isSearchedElsewhere = ({ type, execution }: Fields): boolean =>
  typeof type === 'string' && type.startsWith('tool_search') && execution !== 'client'

/** A shell in a container of the vendor's is no function, which its caller would have to run. */
function runsElsewhere(tool: Fields): boolean {
  const { environment } = tool
  const place = isObject(environment) ? environment['type'] : undefined
  return isSearchedElsewhere(tool) || (typeof place === 'string' && place.startsWith('container'))
}

/** The function that stands for a tool of the vendor's own, in its caller's words where it has some; nothing for any other. */
export function ownTool(tool: Fields): FunctionTool | undefined {
  const { type, description, parameters: schema } = tool
  if (!isOwnKind(type) || runsElsewhere(tool)) return undefined
  const own = ownTools[type]
  if (type !== 'tool_search') return own
  return {
    ...own,
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(schema) ? { parameters: schema } : {}),
  }
}

/** A tool of a namespace under one name, as agents call tools of their MCP servers. */
export const joinedName = (namespace: string, name: string): string =>
  namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`

type Named = { tool: unknown; namespace?: string }

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const flat = (tool: unknown): Named[] => {
  if (!isObject(tool) || tool['type'] !== 'namespace' || typeof tool['name'] !== 'string') return [{ tool }]
  const namespace = tool['name']
  return listOf(tool['tools']).map((inner) => ({ tool: inner, namespace }))
}

const keyOf = ({ tool, namespace }: Named): unknown =>
  isObject(tool) && typeof tool['name'] === 'string' ? `${namespace ?? ''} ${tool['name']}` : tool

/** What a search has found waits no more. */
function loaded({ tool, ...named }: Named): Named {
  if (!isObject(tool)) return { tool, ...named }
  const { defer_loading: _deferred, ...rest } = tool
  return { tool: rest, ...named }
}

const isAdding = (item: unknown): item is Fields =>
  isObject(item) && (item['type'] === 'additional_tools' || item['type'] === 'tool_search_output')

/** The tools that an item of a conversation adds, as a search for tools does too. */
function addedBy(item: unknown): Named[] {
  if (!isAdding(item)) return []
  const added = listOf(item['tools']).flatMap(flat)
  return item['type'] === 'tool_search_output' ? added.map(loaded) : added
}

type ToolsOfCall = {
  offered: Named[]
  /** What goes out beside those: definitions that others of their name have taken the place of. */
  replaced: Named[]
}

/** The item repeats tools of the call that its vendor has found itself, and is counted as it is. */
const isRepeating = isSearchedElsewhere

/** All tools of a call, those in its conversation too, which take the place of earlier ones of their name. */
function namedTools({ tools, input }: Fields): ToolsOfCall {
  const own = listOf(tools).flatMap(flat)
  const items = listOf(input).filter(isAdding)
  if (items.length === 0) return { offered: own, replaced: [] }
  const ownByName = new Map(own.map((named) => [keyOf(named), named]))
  const byName = new Map<unknown, Named>()
  const repeated = new Set<Named>()
  const replaced: Named[] = []
  for (const item of items) {
    for (const named of addedBy(item)) {
      const key = keyOf(named)
      const added = byName.get(key)
      const known = added ?? ownByName.get(key)
      if (known && isRepeating(item)) {
        byName.set(key, loaded(known))
        repeated.add(known)
        continue
      }
      if (added) replaced.push(added)
      byName.set(key, named)
    }
  }
  const isReplaced = (named: Named): boolean => byName.has(keyOf(named))
  replaced.push(...own.filter((named) => isReplaced(named) && !repeated.has(named)))
  return { offered: [...own.filter((named) => !isReplaced(named)), ...byName.values()], replaced }
}

const joined = ({ tool, namespace }: Named): unknown =>
  namespace !== undefined && isObject(tool) && typeof tool['name'] === 'string'
    ? { ...tool, name: joinedName(namespace, tool['name']) }
    : tool

/** What is said of a group of tools, and of skills for a shell. */
const wordsBeside = (tool: unknown): string[] => {
  if (!isObject(tool)) return []
  const { type, description, environment } = tool
  if (type === 'namespace') return typeof description === 'string' ? [description] : []
  return type === 'shell' && !runsElsewhere(tool) && isObject(environment) ? [JSON.stringify(environment)] : []
}

/**
 * The tools of a call as one list, those of namespaces under their joined names, and what their vendor reads of tools beside
 * it, for whoever counts.
 */
export function flatTools(body: Fields): { tools: unknown[]; beside: string[] } {
  const { offered, replaced } = namedTools(body)
  const lists = [body, ...listOf(body['input']).filter((item) => isAdding(item) && !isRepeating(item))]
  const words = lists.flatMap((list) => listOf((list as Fields)['tools']).flatMap(wordsBeside))
  return { tools: offered.map(joined), beside: [...replaced.map(({ tool }) => JSON.stringify(tool)), ...words] }
}

/** What a call of a function really is to its caller. */
export type CalledAs = { namespace: string; name: string } | { kind: OwnKind }

/** By the names that went upstream. */
export function calledAs(body: Fields): ReadonlyMap<string, CalledAs> {
  const found = new Map<string, CalledAs>()
  for (const { tool, namespace } of namedTools(body).offered) {
    if (!isObject(tool)) continue
    const { type, name } = tool
    if (isOwnKind(type) && !isSearchedElsewhere(tool)) found.set(ownTools[type].name, { kind: type })
    else if (namespace !== undefined && typeof name === 'string')
      found.set(joinedName(namespace, name), { namespace, name })
  }
  return found
}

/** An item that calls one of the vendor's own tools, as it goes back to its caller. */
export function ownCallItem(
  kind: OwnKind,
  head: { id: string; call_id: string },
  { argumentsText, status }: { argumentsText: string; status: string },
): object {
  const given = parseObject(argumentsText) ?? {}
  if (kind === 'tool_search')
    return { type: 'tool_search_call', ...head, execution: 'client', arguments: given, status }
  const { type: _type, ...action } = given
  if (kind === 'apply_patch') {
    const operation = isObject(given['operation']) ? given['operation'] : given
    return { type: 'apply_patch_call', ...head, operation, status }
  }
  if (kind === 'shell') {
    const limits = { timeout_ms: action['timeout_ms'] ?? null, max_output_length: action['max_output_length'] ?? null }
    return { type: 'shell_call', ...head, action: { commands: listOf(action['commands']), ...limits }, status }
  }
  const { command } = action
  const words = typeof command === 'string' ? ['bash', '-lc', command] : listOf(command)
  return {
    type: 'local_shell_call',
    ...head,
    action: { type: 'exec', env: {}, ...action, command: words },
    status,
  }
}

const callKinds: Readonly<Record<string, OwnKind>> = {
  local_shell_call: 'local_shell',
  shell_call: 'shell',
  apply_patch_call: 'apply_patch',
  tool_search_call: 'tool_search',
}

/** The same item in a conversation, as the call of a function; nothing for any other item. */
export function readOwnCall(item: Fields): ToolCallPart | undefined {
  const { type, action, operation, call_id: callId, id } = item
  const kind = typeof type === 'string' && Object.hasOwn(callKinds, type) ? callKinds[type] : undefined
  const callName = typeof callId === 'string' ? callId : id
  if (kind === undefined || typeof callName !== 'string' || isSearchedElsewhere(item)) return undefined
  if (kind === 'tool_search') {
    const { arguments: search } = item
    const words = typeof search === 'string' ? search : JSON.stringify(search ?? {})
    return { type: 'tool-call', id: callName, name: kind, arguments: words }
  }
  const given = kind === 'apply_patch' ? { operation } : isObject(action) ? action : {}
  const { type: _type, ...rest } = given as Fields
  return {
    type: 'tool-call',
    id: callName,
    name: kind,
    arguments: JSON.stringify(kind === 'apply_patch' ? given : rest),
  }
}

const outputs = new Set([
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'tool_search_output',
])

const nameOf = (named: Named): unknown[] => {
  const tool = joined(named)
  return isObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : []
}

/** What such a call gave, as the result of a function. */
export function readOwnOutput(item: Fields): { callId: string; text: string } | undefined {
  const { type, call_id: callId, id, output, status } = item
  const name = typeof callId === 'string' ? callId : id
  if (typeof type !== 'string' || !outputs.has(type) || typeof name !== 'string' || isSearchedElsewhere(item))
    return undefined
  // What the tools are like is said with the others of the call.
  if (type === 'tool_search_output')
    return { callId: name, text: JSON.stringify({ tools: addedBy(item).flatMap(nameOf) }) }
  const given = output ?? status ?? ''
  return { callId: name, text: typeof given === 'string' ? given : JSON.stringify(given) }
}
