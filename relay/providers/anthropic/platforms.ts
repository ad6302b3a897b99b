import { type Json, listOf, recordOf, recordsOf, textOf } from '../shared/json.ts'

/** What a cloud takes of the messages dialect; it answers 400 to any field and any beta that it does not know. */
type ClaudePlatform = {
  /** Betas of the caller that go on, each under the name it has there. */
  betas: Readonly<Record<string, string>>
  fields: ReadonlySet<string>
  /** Tools that the vendor runs itself. */
  serverTools: RegExp
}

const names = (text: string): string[] => text.split(' ')
const same = (text: string): Record<string, string> => Object.fromEntries(names(text).map((name) => [name, name]))

/** What both clouds take; the rest of the dialect is of the vendor's own platform alone. */
const commonFields = names(
  'anthropic_version anthropic_beta model messages max_tokens metadata system stop_sequences stream temperature thinking tool_choice tools top_k top_p output_config context_management',
)

const commonBetas = same(
  'computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 context-management-2025-06-27 interleaved-thinking-2025-05-14 compact-2026-01-12 tool-search-tool-2025-10-19 thinking-display-updates-2026-08-18 thinking-binding-controls-2026-08-01',
)
/** Searching for tools goes under the name of one of the features that this beta holds. */
const toolSearch = { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' }

/**
 * Bedrock. Fields and betas: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 * and https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock (no server tools, no files, no MCP connector);
 * its refusals: "invalid beta flag", "tools.11.custom.defer_loading: Extra inputs are not permitted"
 * (https://github.com/anthropics/claude-code/issues/82549). Betas that others found to be taken:
 * https://github.com/BerriAI/litellm/blob/main/litellm/anthropic_beta_headers_config.json
 */
export const bedrockPlatform: ClaudePlatform = {
  betas: {
    ...commonBetas,
    ...toolSearch,
    ...same(
      'token-efficient-tools-2025-02-19 output-128k-2025-02-19 dev-full-thinking-2025-05-14 fine-grained-tool-streaming-2025-05-14 effort-2025-11-24 tool-examples-2025-10-29',
    ),
  },
  fields: new Set(commonFields),
  serverTools: /^(web_search|web_fetch|code_execution|advisor|mcp_toolset)/,
}

/**
 * Vertex AI. https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai and
 * https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude: web search is there, other server
 * tools, files and the MCP connector are not.
 */
export const vertexPlatform: ClaudePlatform = {
  betas: { ...commonBetas, ...toolSearch, ...same('web-search-2025-03-05 compact-2026-09-04') },
  fields: new Set([...commonFields, 'compaction']),
  serverTools: /^(web_fetch|code_execution|advisor|mcp_toolset)/,
}

/** Betas that name the program that calls or what every cloud does by now: without them nothing is lost. */
const meaningless =
  /^(claude-code|oauth|prompt-caching|extended-cache-ttl|message-batches|pdfs|token-counting|structured-outputs|effort|interleaved-thinking|web-search|files-api|fine-grained-tool-streaming|token-efficient-tools|max-tokens-3-5-sonnet|adaptive-thinking)-/

const toolFields = new Set(
  names(
    'type name description input_schema cache_control strict input_examples display_width_px display_height_px display_number max_characters enable_zoom max_uses allowed_domains blocked_domains user_location',
  ),
)

const searchesTools = 'tool-search-tool-2025-10-19'

/** A cache mark says how long; for whom it holds is known to the vendor's own platform only. */
function withoutScope(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutScope)
  const record = recordOf(value)
  if (!record) return value
  const mark = recordOf(record['cache_control'])
  const content = record['content']
  if (mark?.['scope'] === undefined && !Array.isArray(content)) return value
  const { scope: _, ...rest } = mark ?? {}
  return {
    ...record,
    ...(mark === undefined ? {} : { cache_control: rest }),
    ...(Array.isArray(content) ? { content: withoutScope(content) } : {}),
  }
}

function fitTools(body: Json, betas: readonly string[], platform: ClaudePlatform): string[] {
  const tools = recordsOf(body['tools'])
  const searches = betas.includes(searchesTools)
  const isTaken = (tool: Json): boolean => {
    const type = textOf(tool['type']) ?? 'custom'
    return !platform.serverTools.test(type) && (searches || !type.startsWith('tool_search_tool'))
  }
  const isKnown = (name: string): boolean => toolFields.has(name) || (name === 'defer_loading' && searches)
  const lost = new Set<string>()
  let changed = false
  const remaining = tools.flatMap((tool) => {
    if (!isTaken(tool)) {
      lost.add(`tools.${textOf(tool['type'])}`)
      return []
    }
    const odd = Object.keys(tool).filter((name) => !isKnown(name))
    if (odd.length === 0) return [tool]
    changed = true
    for (const name of odd) if (tool[name] !== false && tool[name] !== null) lost.add(`tools.${name}`)
    return [Object.fromEntries(Object.entries(tool).filter(([name]) => isKnown(name)))]
  })
  if (remaining.length === tools.length) {
    if (changed) body['tools'] = remaining
    return [...lost]
  }
  if (remaining.length > 0) body['tools'] = remaining
  else for (const name of ['tools', 'tool_choice']) delete body[name]
  const choice = recordOf(body['tool_choice'])
  if (choice?.['type'] === 'tool' && !remaining.some((tool) => tool['name'] === choice['name'])) {
    body['tool_choice'] = { type: 'auto' }
    lost.add('tool_choice')
  }
  return [...lost]
}

const isRemoteCall = (block: unknown): boolean => (textOf(recordOf(block)?.['type']) ?? '').startsWith('mcp_tool_')

/** The clouds call no remote servers, and know no blocks of them. */
function dropRemoteCalls(body: Json): string[] {
  const messages = listOf(body['messages'])
  const contentOf = (message: unknown): unknown[] => listOf(recordOf(message)?.['content'])
  if (!messages.some((message) => contentOf(message).some(isRemoteCall))) return []
  body['messages'] = messages.flatMap((message) => {
    const blocks = contentOf(message)
    if (!blocks.some(isRemoteCall)) return [message]
    const content = blocks.filter((block) => !isRemoteCall(block))
    return content.length > 0 ? [{ ...recordOf(message), content }] : []
  })
  return ['mcp_tool_use', 'mcp_tool_result']
}

const betasOf = (header: string | undefined): string[] =>
  header
    ?.split(',')
    .map((beta) => beta.trim())
    .filter(Boolean) ?? []

/**
 * Takes out of a body in the messages dialect what the platform refuses, and gives the betas it may be sent. `body` is a
 * shallow copy: fields are replaced, never changed inside.
 */
export function fitToPlatform(
  body: Json,
  header: string | undefined,
  platform: ClaudePlatform,
): { betas: string[]; losses: string[] } {
  const given = betasOf(header)
  const known = given.flatMap((beta) => (Object.hasOwn(platform.betas, beta) ? [platform.betas[beta] as string] : []))
  const betas = [...new Set(known)]
  const lost = given.filter((beta) => !Object.hasOwn(platform.betas, beta) && !meaningless.test(beta))
  for (const name of Object.keys(body)) {
    if (platform.fields.has(name)) continue
    if (body[name] !== undefined && body[name] !== null) lost.push(name)
    delete body[name]
  }
  if (listOf(body['tools']).length > 0) lost.push(...fitTools(body, betas, platform))
  lost.push(...dropRemoteCalls(body))
  if (given.some((beta) => beta.startsWith('prompt-caching-scope'))) {
    for (const name of ['system', 'tools', 'messages'])
      if (Array.isArray(body[name])) body[name] = withoutScope(body[name])
  }
  return { betas, losses: lost }
}
