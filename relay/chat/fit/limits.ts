import { jsonInstruction } from '../json-instruction.ts'
import type { ChatRequest, Message, Tool } from '../request.ts'

export const isNamed = (tool: Tool): tool is Extract<Tool, { name: string }> =>
  tool.type === 'function' || tool.type === 'custom'

/** As many tools as the target takes: those that were called or chosen before the others, in their order. */
export function withFewerTools(request: ChatRequest, most: number | undefined, losses: Set<string>): ChatRequest {
  const { tools, toolChoice } = request
  if (most === undefined || tools.length <= most) return request
  losses.add('tools')
  const wanted = new Set<string>(toolChoice?.type === 'tool' ? [toolChoice.name] : [])
  if (toolChoice?.type === 'allowed') for (const name of toolChoice.names) wanted.add(name)
  for (const { role, content } of request.messages)
    if (role === 'assistant') for (const part of content) if (part.type === 'tool-call') wanted.add(part.name)
  const isWanted = (tool: Tool): boolean => !isNamed(tool) || wanted.has(tool.name)
  const first = new Set([...tools.filter(isWanted), ...tools.filter((tool) => !isWanted(tool))].slice(0, most))
  const remaining = tools.filter((tool) => first.has(tool))
  if (toolChoice?.type !== 'allowed') return { ...request, tools: remaining }
  const names = toolChoice.names.filter((name) => remaining.some((tool) => isNamed(tool) && tool.name === name))
  return { ...request, tools: remaining, toolChoice: { ...toolChoice, names } }
}

export function withFewerTokens(request: ChatRequest, most: number | undefined, losses: Set<string>): ChatRequest {
  if (most === undefined || request.maxTokens === undefined || request.maxTokens <= most) return request
  losses.add('max_tokens')
  return { ...request, maxTokens: most }
}

const saysJson = ({ content }: Message): boolean =>
  content.some((part) => part.type === 'text' && /json/i.test(part.text))

/** "'messages' must contain the word 'json' in some form": callers of other vendors need not say it. */
export function withJsonWord(request: ChatRequest): ChatRequest {
  if (request.responseFormat?.type !== 'json' || request.messages.some(saysJson)) return request
  const instruction: Message = { role: 'system', content: [{ type: 'text', text: jsonInstruction }] }
  const begin = request.messages.findIndex(({ role }) => role !== 'system')
  const at = begin < 0 ? request.messages.length : begin
  return { ...request, messages: request.messages.toSpliced(at, 0, instruction) }
}
