import { isObject } from '../json.ts'
import type { Fields } from '../json.ts'
import type { ChatRequest } from '../request.ts'

/** A remote server of tools, which the vendor calls itself without asking. */
export type McpServer = {
  name: string
  url: string
  /** A secret of the caller's: it goes to the upstream and nowhere else. */
  token?: string | undefined
  /** Absent: all tools that the server has. */
  allowed?: string[] | undefined
}

type Given = { servers: McpServer[]; losses: string[] }

const wordOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const wordsOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
const objectsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])
const isSecure = (url: string | undefined): url is string => url !== undefined && /^https:\/\//i.test(url)

/** Names of tools, as a list or as an object that may filter by more than names. */
function namesIn(value: unknown): string[] | 'filtered' | undefined {
  if (value === undefined || value === null) return undefined
  const names = wordsOf(value) ?? (isObject(value) && value['read_only'] === undefined && wordsOf(value['tool_names']))
  return names || 'filtered'
}

/**
 * The tools that run without being asked about: of a server that always asks, which is what absent means, none. Where the
 * target cannot ask, a tool that was to be approved must not run.
 */
function freeTools(tool: Fields): string[] | 'all' | 'none' {
  const approval = tool['require_approval']
  const allowed = namesIn(tool['allowed_tools'])
  if (allowed === 'filtered') return 'none'
  if (approval === 'never') return allowed ?? 'all'
  const free = isObject(approval) && (approval['always'] ?? null) === null ? namesIn(approval['never']) : undefined
  if (free === undefined || free === 'filtered') return 'none'
  return allowed ? free.filter((name) => allowed.includes(name)) : free
}

const knownFields = new Set(
  'type server_label server_url authorization allowed_tools require_approval headers'.split(' '),
)

/** The token of a header; null where the headers say anything else. */
function tokenIn(headers: unknown): string | undefined | null {
  const given = isObject(headers) ? Object.entries(headers) : []
  if (given.length === 0) return undefined
  const [name, value] = given[0] ?? ['', '']
  const token = typeof value === 'string' ? /^Bearer (\S+)$/i.exec(value)?.[1] : undefined
  return given.length === 1 && name.toLowerCase() === 'authorization' && token !== undefined ? token : null
}

function ofResponses(request: ChatRequest): Given {
  const given: Given = { servers: [], losses: [] }
  for (const tool of request.tools) {
    if (tool.type !== 'vendor' || !isObject(tool.value) || tool.value['type'] !== 'mcp') continue
    const { server_label: label, server_url: address, authorization, headers } = tool.value
    const [name, url, token] = [wordOf(label), wordOf(address), tokenIn(headers)]
    const free = freeTools(tool.value)
    if (name === undefined || !isSecure(url) || token === null || free === 'none') {
      given.losses.push('tools.mcp')
      continue
    }
    for (const field of Object.keys(tool.value)) if (!knownFields.has(field)) given.losses.push(`tools.${field}`)
    given.servers.push({ name, url, token: wordOf(authorization) ?? token, allowed: free === 'all' ? undefined : free })
  }
  return given
}

const isOn = (config: unknown): boolean | undefined =>
  isObject(config) && typeof config['enabled'] === 'boolean' ? config['enabled'] : undefined

/** The tools that a toolset leaves; nothing where it takes single ones away, for which the other form has no word. */
function toolsOf(toolset: Fields): { allowed?: string[] | undefined } | undefined {
  const configs = Object.entries(isObject(toolset['configs']) ? toolset['configs'] : {})
  if (isOn(toolset['default_config']) === false) {
    return { allowed: configs.filter(([, config]) => isOn(config) === true).map(([name]) => name) }
  }
  return configs.some(([, config]) => isOn(config) === false) ? undefined : {}
}

function ofClaude(request: ChatRequest): Given {
  const given: Given = { servers: [], losses: [] }
  const toolsets = request.tools.flatMap((tool) =>
    tool.type === 'vendor' && isObject(tool.value) && tool.value['type'] === 'mcp_toolset' ? [tool.value] : [],
  )
  for (const server of objectsOf(request.extra.fields['mcp_servers'])) {
    const [name, url] = [wordOf(server['name']), wordOf(server['url'])]
    // The form before toolsets says which tools beside the address.
    const earlier = isObject(server['tool_configuration']) ? server['tool_configuration'] : {}
    const toolset = toolsets.find((each) => each['mcp_server_name'] === name)
    const left = toolset ? toolsOf(toolset) : { allowed: wordsOf(earlier['allowed_tools']) }
    if (name === undefined || !isSecure(url) || left === undefined || isOn(earlier) === false) {
      given.losses.push('mcp_servers')
      continue
    }
    const defers = [toolset?.['default_config'], ...Object.values(Object(toolset?.['configs']) as Fields)]
    if (defers.some((config) => isObject(config) && config['defer_loading'] === true))
      given.losses.push('defer_loading')
    given.servers.push({ name, url, token: wordOf(server['authorization_token']), ...left })
  }
  return given
}

const none: Given = { servers: [], losses: [] }

/** The remote servers that a caller brings along, with names of what of them cannot be sent to a vendor of the other form. */
export function mcpServersOf(request: ChatRequest): Given {
  const { dialect } = request.extra
  return dialect === 'claude' ? ofClaude(request) : dialect === 'openai-responses' ? ofResponses(request) : none
}

/** What losses of a request hold for its remote servers, before a writer says them in its own words. */
export const isServerLoss = (name: string): boolean =>
  name === 'mcp_servers' || name === 'tools.mcp' || name === 'tools.mcp_toolset'
