import { nestGrammar } from '#relay/chat/grammar-format.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import { defined, unreadNames } from '../read.ts'

/** What is known while a body is read: the names of its tools of free text, and what is lost of it. */
export type Reading = { freeText: ReadonlySet<string>; losses: Set<string> }

type FlatTool = Fields & { name: string }

/** A function or a tool of free text as responses and messages describe it, without an object around it. */
export const isFlatTool = (tool: unknown): tool is FlatTool => {
  if (!isObject(tool) || typeof tool['name'] !== 'string') return false
  const type = tool['type'] ?? 'function'
  return (type === 'function' || type === 'custom') && (tool['function'] ?? tool['custom'] ?? null) === null
}

/** Anthropic's word for a tool with a schema is `custom`, too. */
export const isFreeText = (tool: FlatTool): boolean => tool['type'] === 'custom' && !isObject(tool['input_schema'])

const functionNames = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'input_schema',
  'strict',
  'cache_control',
  'function',
  'custom',
])
const freeTextNames = new Set(['type', 'name', 'description', 'format', 'function', 'custom'])

export function nestedTool(tool: unknown, { losses }: Reading): unknown {
  if (!isFlatTool(tool)) return tool
  const isText = isFreeText(tool)
  for (const name of unreadNames(tool, isText ? freeTextNames : functionNames, 'tools')) losses.add(name)
  const { name, description, parameters, input_schema: schema, strict, cache_control, format } = tool
  if (isText) return { type: 'custom', custom: defined({ name, description, format: nestedFormat(format) }) }
  const called = defined({ name, description, parameters: parameters ?? schema, strict })
  return defined({ type: 'function', function: called, cache_control })
}

const nestedFormat = (format: unknown): unknown =>
  isObject(format) && format['grammar'] !== undefined ? format : nestGrammar(format)

const namingChoices: ReadonlySet<unknown> = new Set(['function', 'custom', 'tool', 'allowed_tools'])

/** The choices of responses and of messages. One of what the vendor runs itself goes with its tool. */
export function nestedChoice(choice: unknown, { freeText, losses }: Reading): unknown {
  if (!isObject(choice)) return choice
  const { type, name, mode, tools } = choice
  const named = (called: string) =>
    freeText.has(called)
      ? { type: 'custom', custom: { name: called } }
      : { type: 'function', function: { name: called } }
  if (type === 'allowed_tools' && Array.isArray(tools)) {
    const nested = tools.map((tool: unknown) => (isFlatTool(tool) ? named(tool.name) : tool))
    return { type, allowed_tools: { mode, tools: nested } }
  }
  if (typeof name === 'string') return named(name)
  if (type === 'auto' || type === 'none') return type
  if (type === 'any') return 'required'
  if (typeof type !== 'string' || namingChoices.has(type)) return choice
  losses.add('tool_choice')
  return undefined
}
