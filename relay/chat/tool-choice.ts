import type { ChatRequest, Tool } from './request.ts'

const isNamed = (tool: Tool): tool is Extract<Tool, { name: string }> => 'name' in tool

/**
 * A request whose choice of tools names only those that it brings along: a choice of a tool that its vendor runs, or that an
 * MCP server has, would be one of a function that is not there.
 */
export function withPresentChoice(request: ChatRequest): ChatRequest {
  const { toolChoice, tools } = request
  if (toolChoice?.type !== 'tool' && toolChoice?.type !== 'allowed') return request
  const present = new Set(tools.filter(isNamed).map(({ name }) => name))
  const { toolChoice: _, ...rest } = request
  const losses = [...new Set([...request.losses, 'tool_choice'])]
  if (toolChoice.type === 'tool') return present.has(toolChoice.name) ? request : { ...rest, losses }
  const names = toolChoice.names.filter((name) => present.has(name))
  if (names.length === toolChoice.names.length) return request
  return names.length === 0 ? { ...rest, losses } : { ...request, toolChoice: { ...toolChoice, names }, losses }
}
