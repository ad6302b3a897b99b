import { checkFields } from '../fields.ts'
import { asNumber, asObject, asObjects, asText, asTexts, refuse, type Json } from '../prompt.ts'
import { checkBlocks, checkEnding } from './anthropic-conversation.ts'
import { checkAnthropicGrammar, checkGrammarSize, checkPlainRoot } from './schemas.ts'
import { checkDeepSeekBlocks } from './vendors.ts'

const words = (text: string): string[] => text.split(' ')

/** https://platform.claude.com/docs/en/api/messages and the beta fields of @anthropic-ai/sdk */
const ownFields = words(
  'model messages max_tokens betas billing_policy cache_control compaction container context_management diagnostics fallback_credit_token fallbacks inference_geo mcp_servers metadata output_config output_format service_tier speed stop_sequences stream system temperature thinking thread tool_choice tools top_k top_p user_profile_id workspace_id',
)
/**
 * Of these the clouds know no more than:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
 * https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
const hostedFields = words(
  'model messages max_tokens metadata stop_sequences stream system temperature thinking tool_choice tools top_k top_p output_config context_management compaction',
)
const ownToolFields = words(
  'type name description input_schema cache_control strict input_examples defer_loading eager_input_streaming allowed_callers',
)
const hostedToolFields = words('type name description input_schema cache_control strict input_examples')

/**
 * "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for …":
 * https://platform.claude.com/docs/en/about-claude/models/overview, "Max output"
 */
const mostOutput: readonly (readonly [RegExp, number])[] = [
  [/claude-3-5-/, 8192],
  [/claude-(sonnet|haiku|opus)-4-5/, 64_000],
  [/claude-opus-4-1/, 32_000],
]

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, "Feature compatibility" and "Working with thinking budgets" */
function checkThinking(body: Json): void {
  const thinking = asObject(body['thinking'])
  if (thinking['type'] !== 'enabled') return
  const budget = asNumber(thinking['budget_tokens'])
  if (budget === undefined || budget < 1024) refuse('thinking.enabled.budget_tokens: Input should be at least 1024')
  if ((budget ?? 0) >= (asNumber(body['max_tokens']) ?? 0))
    refuse('`max_tokens` must be greater than `thinking.budget_tokens`.')
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    refuse('`temperature` may only be set to 1 when thinking is enabled.')
  if (['any', 'tool'].includes(asText(asObject(body['tool_choice'])['type'])))
    refuse('Thinking may not be enabled when tool_choice forces tool use.')
}

function checkTools(body: Json, isHosted: boolean): void {
  const names = new Set<string>()
  for (const [index, tool] of asObjects(body['tools']).entries()) {
    if (tool['type'] !== undefined && tool['type'] !== 'custom') continue
    const place = `tools.${index}.custom`
    const name = asText(tool['name'])
    checkFields(tool, isHosted ? hostedToolFields : ownToolFields, `${place}.`)
    // https://platform.claude.com/docs/en/api/messages, `tools[].name`: at most 128; the clouds: "String should have at most 64 characters",
    // https://github.com/anthropics/claude-code/issues/5132, https://github.com/NousResearch/hermes-agent/issues/54863.
    const longest = isHosted ? 64 : 128
    if (name.length > longest) refuse(`${place}.name: String should have at most ${longest} characters`)
    if (!/^[a-zA-Z0-9_-]+$/.test(name))
      refuse(`${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,${longest}}$'`)
    if (names.has(name)) refuse('tools: Tool names must be unique.')
    names.add(name)
    if (tool['input_schema'] !== undefined && asObject(tool['input_schema'])['type'] !== 'object')
      refuse(`${place}.input_schema.type: Field required`)
    checkPlainRoot(
      tool['input_schema'],
      `${place}: input_schema does not support oneOf, allOf, or anyOf at the top level`,
    )
    if (tool['strict'] === true) checkAnthropicGrammar(tool['input_schema'], `${place}.input_schema`)
  }
}

/** https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages: from Opus 4.8 on, behind a user's turn. */
const withoutLaterInstructions = /claude-(instant|[123]|sonnet-(4|5(?!-5))|haiku-4|opus-4(?!-8))/

function checkInstructions(body: Json): void {
  const messages = asObjects(body['messages'])
  for (const [index, message] of messages.entries()) {
    if (message['role'] !== 'system') continue
    if (withoutLaterInstructions.test(asText(body['model']))) refuse("role 'system' is not supported on this model")
    if (messages[index - 1]?.['role'] !== 'user' || messages[index + 1]?.['role'] === 'user')
      refuse(`messages.${index}: a system message must follow a user message`)
  }
}

/**
 * "`temperature` and `top_p` cannot both be specified for this model":
 * https://platform.claude.com/docs/en/about-claude/models/migration-guide, "Update sampling parameters"; from Opus 4.7 on neither:
 * "`temperature` is deprecated for this model.", https://github.com/sipeed/picoclaw/issues/2939.
 */
const takesOneOfThem = /claude-((sonnet|haiku|opus)-4-5|opus-4-1)/
const takesNone = /claude-(opus-4-[78]|(opus|sonnet|haiku|fable)-5)/

function checkSampling(body: Json): void {
  const model = asText(body['model'])
  const given = words('temperature top_p top_k').filter((name) => body[name] !== undefined)
  const isUsual = (name: string) => body[name] === 1 && name !== 'top_k'
  const odd = given.find((name) => !isUsual(name))
  if (takesNone.test(model) && odd !== undefined) refuse(`\`${odd}\` is deprecated for this model.`)
  if (takesOneOfThem.test(model) && given.includes('temperature') && given.includes('top_p'))
    refuse('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
  // https://platform.claude.com/docs/en/api/messages, `temperature`: "Ranges from 0.0 to 1.0".
  if ((asNumber(body['temperature']) ?? 0) > 1) refuse('temperature: range: 0..1')
  // "each stop sequence must contain non-whitespace": https://github.com/BerriAI/litellm/issues/3286
  if (asTexts(body['stop_sequences']).some((text) => text.trim() === ''))
    refuse('stop_sequences: each stop sequence must contain non-whitespace')
}

const countMarks = (value: unknown): number =>
  asObjects(value).reduce(
    (sum, block) => sum + (block['cache_control'] === undefined ? 0 : 1) + countMarks(block['content']),
    0,
  )

/** https://github.com/tghamm/Anthropic.SDK/issues/50 */
function checkMarks(body: Json): void {
  const found = ['tools', 'system', 'messages'].reduce((sum, name) => sum + countMarks(body[name]), 0)
  if (found > 4) refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${found}.`)
}

/**
 * The pattern of `server_tool_use.id`: https://platform.claude.com/docs/en/api/messages;
 * "encrypted_content must be passed back in multi-turn conversations", "each server in mcp_servers must be referenced by exactly one
 * MCPToolset": https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool,
 * https://platform.claude.com/docs/en/agents-and-tools/mcp-connector
 */
function checkOwnCalls(body: Json, isHosted: boolean): void {
  for (const [index, message] of asObjects(body['messages']).entries()) {
    const blocks = asObjects(message['content'])
    const called = new Set(blocks.map((block) => block['id']))
    for (const block of blocks) {
      const type = asText(block['type'])
      if (isHosted && type.startsWith('mcp_tool_'))
        refuse(`messages.${index}.content: Input tag '${type}' is not known`)
      if (type === 'server_tool_use' && !/^srvtoolu_[a-zA-Z0-9_]+$/.test(asText(block['id'])))
        refuse(`messages.${index}.content.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'`)
      if (/^(web_search|mcp)_tool_result$/.test(type) && !called.has(block['tool_use_id']))
        refuse(`messages.${index}.content: ${type} without its call`)
      for (const found of type === 'web_search_tool_result' ? asObjects(block['content']) : [])
        if (asText(found['encrypted_content']) === '') refuse('Invalid encrypted_content in search_result block')
      for (const source of asObjects(block['citations']))
        if (source['type'] === 'web_search_result_location' && asText(source['encrypted_index']) === '')
          refuse('Invalid encrypted_index in citation')
    }
  }
  const names = asObjects(body['mcp_servers']).map((server) => asText(server['name']))
  const toolsets = asObjects(body['tools'])
    .filter((tool) => tool['type'] === 'mcp_toolset')
    .map((tool) => asText(tool['mcp_server_name']))
  if (names.toSorted().join() !== toolsets.toSorted().join())
    refuse('mcp_servers: each must have exactly one mcp_toolset')
  for (const server of asObjects(body['mcp_servers']))
    if (!asText(server['url']).startsWith('https://')) refuse('mcp_servers.0.url: must start with https://')
}

export function checkMessages(body: Json, { isHosted }: { isHosted: boolean }): void {
  checkFields(body, isHosted ? hostedFields : ownFields)
  // https://platform.claude.com/docs/en/build-with-claude/context-editing
  if (Array.isArray(body['context_management'])) refuse('context_management: Input should be an object')
  checkThinking(body)
  checkTools(body, isHosted)
  checkBlocks(body)
  if (asText(body['model']).startsWith('deepseek-')) checkDeepSeekBlocks(body)
  checkEnding(body)
  checkSampling(body)
  checkInstructions(body)
  checkOwnCalls(body, isHosted)
  checkMarks(body)
  const [, most] = mostOutput.find(([pattern]) => pattern.test(asText(body['model']))) ?? []
  const limit = asNumber(body['max_tokens']) ?? 0
  if (most !== undefined && limit > most)
    refuse(
      `max_tokens: ${limit} > ${most}, which is the maximum allowed number of output tokens for ${asText(body['model'])}`,
    )
  if (asText(asObject(body['metadata'])['user_id']).length > 256)
    refuse('metadata.user_id: String should have at most 256 characters')
  const format = asObject(asObject(body['output_config'])['format'])
  if (format['type'] === 'json_schema') checkAnthropicGrammar(format['schema'], 'output_config.format.schema')
  const strict = asObjects(body['tools']).filter((tool) => tool['strict'] === true)
  checkGrammarSize(
    strict.map((tool) => tool['input_schema']),
    format['type'] === 'json_schema' ? [format['schema']] : [],
  )
}

/** Betas that the clouds know by no name: "invalid beta flag", https://github.com/anthropics/claude-code/issues/82549 */
const refusedBetas =
  /^(claude-code|oauth|fast-mode|advanced-tool-use|prompt-caching-scope|mcp-client|skills|files-api|code-execution|web-fetch|advisor-tool|message-threads|structured-outputs)-/

export function checkBetas(betas: readonly string[]): void {
  if (betas.some((beta) => refusedBetas.test(beta.trim()))) refuse('invalid beta flag')
}
