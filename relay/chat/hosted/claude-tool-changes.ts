import { type Fields, isObject } from '#relay/chat/json.ts'

/** Blocks of an instruction in mid-conversation that offer a tool from there on, or no longer. */
export const isToolChange = ({ type }: Fields): boolean => type === 'tool_addition' || type === 'tool_removal'

/** What a tool is referred to by: its name, or that of the server whose tools it stands for. */
function keyOf({ type, name, mcp_server_name: server, server_name: referred }: Fields): string | undefined {
  const isToolset = type === 'mcp_toolset' || type === 'mcp_toolset_reference'
  const key = isToolset ? (server ?? referred) : type === 'mcp_tool_reference' ? undefined : name
  return typeof key === 'string' ? `${isToolset ? 'server' : 'tool'} ${key}` : undefined
}

/**
 * The tools that are offered in the end, for models that take no changes in mid-conversation: what was added stands among
 * them, what was removed does not. Changes of what is not there, or of one tool of a server, are named. `unoffered` is what a host
 * that takes changes reads beside those tools: the others, and the changes themselves.
 */
export function changedTools(
  declared: readonly unknown[],
  changes: readonly Fields[],
): { tools: readonly unknown[]; unoffered: unknown[]; losses: string[] } {
  if (changes.length === 0) return { tools: declared, unoffered: [], losses: [] }
  const entries: { tool: unknown; isOffered: boolean }[] = []
  const byKey = new Map<string, (typeof entries)[number]>()
  const unoffered: unknown[] = []
  const losses: string[] = []
  const add = (tool: unknown, key: string | undefined): void => {
    const entry = { tool, isOffered: true }
    entries.push(entry)
    if (key !== undefined) byKey.set(key, entry)
  }
  for (const tool of declared) add(tool, isObject(tool) ? keyOf(tool) : undefined)
  for (const change of changes) {
    const { type, tool: meant } = change
    const isAdded = type === 'tool_addition'
    const definition =
      isAdded && isObject(meant) && meant['type'] === 'tool_definition' && isObject(meant['definition'])
        ? meant['definition']
        : undefined
    unoffered.push(definition === undefined ? change : withoutDefinition(change, definition))
    const key = isObject(meant) ? keyOf(definition ?? meant) : undefined
    const entry = key === undefined ? undefined : byKey.get(key)
    if (entry !== undefined) {
      entry.isOffered = isAdded
      if (definition !== undefined) unoffered.push(entry.tool)
      if (isAdded) entry.tool = atOnce(definition ?? entry.tool)
    } else if (definition !== undefined) add(atOnce(definition), key)
    else losses.push(String(type))
  }
  const tools: unknown[] = []
  for (const { tool, isOffered } of entries) (isOffered ? tools : unoffered).push(tool)
  return { tools, unoffered, losses }
}

/** The definition stands among the tools, whether they are offered or not; its mark for the cache is where the change is. */
const withoutDefinition = (change: Fields, { cache_control: mark }: Fields): Fields => ({
  type: change['type'],
  cache_control: change['cache_control'] ?? mark,
})

/** A tool that no search has to find first. */
function atOnce(tool: unknown): unknown {
  if (!isObject(tool) || !('defer_loading' in tool)) return tool
  const { defer_loading: _, ...rest } = tool
  return rest
}
