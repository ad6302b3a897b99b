import type { ChatRequest, FunctionTool, JsonSchema, Message, Tool, ToolChoice } from '../request.ts'
import { isObject } from '../json.ts'
import { isNamed, withFewerTokens, withFewerTools, withJsonWord } from './limits.ts'
import { fitsRule, fitName, fitUser } from './names.ts'
import { pairResults } from './pairing.ts'
import type { NameRule, SchemaRules, TargetProfile } from './profile.ts'

/** A request as its target takes it. */
type Fitted = {
  request: ChatRequest
  /** What could be neither said in the target's words nor put back, by name. */
  losses: string[]
  /** The callers' own names of tools, by the names the target was given; only of those that differ. */
  callerNames: ReadonlyMap<string, string>
}

type Part = Message['content'][number]

/** What a vendor itself calls a function of its own: Moonshot's `$web_search` keeps to no rule for the names of others. */
function builtInName(tool: Tool): unknown {
  const { type, function: fn } = tool.type === 'vendor' && isObject(tool.value) ? tool.value : {}
  return type === 'builtin_function' && isObject(fn) ? fn['name'] : undefined
}

/** Names of tools that the target would refuse, each with the one it gets. */
function oddNames(request: ChatRequest, { toolName: rule, takesBuiltIns }: TargetProfile): Map<string, string> {
  const odd = new Map<string, string>()
  if (!rule) return odd
  const builtIn = new Set(takesBuiltIns === true ? request.tools.map(builtInName) : [])
  const check = (name: string): void => {
    if (!fitsRule(name, rule) && !builtIn.has(name)) odd.set(name, fitName(name, rule))
  }
  for (const tool of request.tools) if (isNamed(tool)) check(tool.name)
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.content) if (part.type === 'tool-call') check(part.name)
  }
  return odd
}

const hasOddId = (request: ChatRequest, rule: NameRule | undefined): boolean =>
  rule !== undefined &&
  request.messages.some(
    ({ role, content }) =>
      role === 'assistant' && content.some((part) => part.type === 'tool-call' && !fitsRule(part.id, rule)),
  )

/** Whether a target of this profile takes the names and ids of a call as its caller wrote them. */
export const takesNames = (request: ChatRequest, profile: TargetProfile): boolean =>
  oddNames(request, profile).size === 0 && !hasOddId(request, profile.callId)

type Renaming = { name: (name: string) => string; id: (id: string) => string }

function renamedPart<Given extends Part>(part: Given, { name, id }: Renaming): Given {
  if (part.type === 'tool-call') return { ...part, name: name(part.name), id: id(part.id) }
  if (part.type !== 'tool-result') return part
  return { ...part, callId: id(part.callId), ...(part.name === undefined ? {} : { name: name(part.name) }) }
}

function renamedMessage(message: Message, renaming: Renaming): Message {
  switch (message.role) {
    case 'system':
      return message
    case 'user':
      return { ...message, content: message.content.map((part) => renamedPart(part, renaming)) }
    case 'assistant':
      return { ...message, content: message.content.map((part) => renamedPart(part, renaming)) }
  }
}

function renamedChoice(choice: ToolChoice, { name }: Renaming): ToolChoice {
  if (choice.type === 'tool') return { ...choice, name: name(choice.name) }
  return choice.type === 'allowed' ? { ...choice, names: choice.names.map(name) } : choice
}

function withNames(request: ChatRequest, profile: TargetProfile): [ChatRequest, Map<string, string>] {
  const { callId } = profile
  const odd = oddNames(request, profile)
  const hasIds = hasOddId(request, callId)
  if (odd.size === 0 && !hasIds) return [request, odd]
  const renaming: Renaming = {
    name: (name) => odd.get(name) ?? name,
    id: (id) => (hasIds && callId ? fitName(id, callId) : id),
  }
  const { tools, toolChoice } = request
  const renamed = {
    ...request,
    messages: request.messages.map((message) => renamedMessage(message, renaming)),
    tools: tools.map((tool) => (isNamed(tool) ? { ...tool, name: renaming.name(tool.name) } : tool)),
    toolChoice: toolChoice && renamedChoice(toolChoice, renaming),
  }
  return [renamed, new Map([...odd].map(([own, given]) => [given, own]))]
}

function fitTool(tool: Tool, { strict, parameters }: SchemaRules, losses: Set<string>): Tool {
  if (tool.type !== 'function' || !tool.parameters) return tool
  let fitted = tool
  if (tool.strict === true && strict) {
    const schema = strict(tool.parameters)
    if (schema !== undefined) return schema === tool.parameters ? tool : { ...tool, parameters: schema }
    fitted = { ...tool, strict: false }
    losses.add('tools.strict')
  }
  const plain = parameters?.(tool.parameters)
  if (!plain || plain.schema === tool.parameters) return fitted
  if (plain.lost) losses.add('tools.parameters')
  return { ...fitted, parameters: plain.schema }
}

function fitFormat(request: ChatRequest, { format: rule, alwaysKeepsFormat }: SchemaRules, losses: Set<string>) {
  const format = request.responseFormat
  if (format?.type !== 'json-schema' || !rule) return format
  if (format.strict !== true && alwaysKeepsFormat !== true) return format
  const fitted = rule(format.schema)
  if ((fitted === undefined || fitted.lost) && format.strict === true) losses.add('response_format.strict')
  if (fitted !== undefined) return fitted.schema === format.schema ? format : { ...format, schema: fitted.schema }
  return { ...format, strict: false, instructed: true }
}

const isStrict = (tool: Tool): tool is FunctionTool & { parameters: JsonSchema } =>
  tool.type === 'function' && tool.strict === true && tool.parameters !== undefined

/** The tools that are followed strictly no more, for the target takes only the first of them beside the answer's format. */
function tooManyStrict(tools: readonly Tool[], format: JsonSchema | undefined, rules: SchemaRules): Set<Tool> {
  const schemas: JsonSchema[] = []
  const others = new Set<Tool>()
  for (const tool of tools.filter(isStrict)) {
    if (rules.exceeds?.([...schemas, tool.parameters], format) === true) others.add(tool)
    else schemas.push(tool.parameters)
  }
  return others
}

function withSchemas(request: ChatRequest, rules: SchemaRules | undefined, losses: Set<string>): ChatRequest {
  if (!rules || (request.tools.length === 0 && request.responseFormat?.type !== 'json-schema')) return request
  const tools = request.tools.map((tool) => fitTool(tool, rules, losses))
  let responseFormat = fitFormat(request, rules, losses)
  const schema =
    responseFormat?.type === 'json-schema' && !responseFormat.instructed ? responseFormat.schema : undefined
  const tooMuch = schema !== undefined && rules.exceeds?.([], schema) === true
  if (tooMuch && responseFormat?.type === 'json-schema') {
    responseFormat = { ...responseFormat, strict: false, instructed: true }
    losses.add('response_format.strict')
  }
  const others = tooManyStrict(tools, tooMuch ? undefined : schema, rules)
  if (others.size > 0) losses.add('tools.strict')
  const fitted = tools.map((tool) => (isStrict(tool) && others.has(tool) ? { ...tool, strict: false } : tool))
  return { ...request, tools: fitted, responseFormat }
}

/** Formats are named by the rule of tools. */
function withFormatName(request: ChatRequest, rule: NameRule | undefined): ChatRequest {
  const format = request.responseFormat
  if (format?.type !== 'json-schema' || !rule || fitsRule(format.name, rule)) return request
  return { ...request, responseFormat: { ...format, name: fitName(format.name, rule) } }
}

/**
 * Brings a request to what its target takes. Each check is cheap, and what needs no fitting stays the very same object. `own`: its
 * messages as its caller sent them.
 */
export function fitRequest(
  request: ChatRequest,
  profile: TargetProfile,
  own: readonly Message[] = request.messages,
): Fitted {
  const losses = new Set<string>()
  const { messages, lost } = pairResults(request, own)
  if (lost) losses.add('tool_result')
  const ordered = messages === request.messages ? request : { ...request, messages }
  const fewer = withFewerTokens(withFewerTools(ordered, profile.mostTools, losses), profile.mostOutput, losses)
  const [named, callerNames] = withNames(withFormatName(fewer, profile.toolName), profile)
  const user = named.user !== undefined && profile.user ? fitUser(named.user, profile.user) : named.user
  const known = user === named.user ? named : { ...named, user }
  const asked = profile.namesJson === true ? withJsonWord(known) : known
  return { request: withSchemas(asked, profile.schemas, losses), losses: [...losses], callerNames }
}
