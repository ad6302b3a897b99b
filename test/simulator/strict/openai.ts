import { checkFields } from '../fields.ts'
import { asList, asNumber, asObject, asObjects, asText, refuse, Refusal, type Json } from '../prompt.ts'
import { checkOpenAiParameters, checkOpenAiStrict, checkPlainRoot } from './schemas.ts'
import { checkJsonWord, checkOutputLimit, checkVendor, isMistral } from './vendors.ts'

const words = (text: string): string[] => text.split(' ')

/** https://platform.openai.com/docs/api-reference/chat/create */
const chatFields = words(
  'model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options',
)
/**
 * What others who speak this form take beside: thinking (DeepSeek, Zhipu, Moonshot, DashScope, MiniMax, OpenRouter, Mistral,
 * VolcEngine), sampling (DashScope, SiliconFlow, Zhipu, Mistral), end users (DeepSeek, Zhipu), search and plugins.
 */
const vendorFields = words(
  'thinking enable_thinking thinking_budget reasoning reasoning_split prompt_mode chat_template_kwargs do_sample random_seed safe_prompt repetition_penalty user_id request_id tool_stream enable_search search_options plugins transforms provider models route mask_sensitive_info',
)
/** https://platform.openai.com/docs/api-reference/responses/create; `client_metadata` is what Codex sends. */
const responsesFields = words(
  'model input background client_metadata context_management conversation include instructions max_output_tokens max_tool_calls metadata parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user',
)

const isReasoning = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model) && !/^gpt-\d+-chat/.test(model)
const isOriginals = (model: string): boolean => /^(chat)?(gpt-|o\d)/.test(model)
const responsesOnly = /^(o1-pro|o3-pro|gpt-5(\.\d+)?-pro|gpt-5(\.\d+)?-codex)/

function unsupported(name: string, model: string): never {
  throw new Refusal({
    status: 400,
    message: `Unsupported parameter: '${name}' is not supported with ${model}.`,
    param: name,
    code: 'unsupported_parameter',
  })
}

/**
 * Ids of calls: https://github.com/vercel/ai/issues/8132 (40 in chat completions), https://github.com/AnswerDotAI/fastllm/issues/45 (64 in responses);
 * ids of end users: https://platform.openai.com/docs/api-reference/responses/create, `safety_identifier`.
 */
function checkLength(value: unknown, longest: number, param: string): void {
  const text = asText(value)
  if (text.length <= longest) return
  throw new Refusal({
    status: 400,
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${longest}, but got a string with length ${text.length} instead.`,
    param,
    code: 'string_above_max_length',
  })
}

/** https://platform.openai.com/docs/api-reference/chat/create, `tools[].function.name`: "must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64" */
function checkName(value: unknown, param: string): void {
  checkLength(value, 64, param)
  if (!/^[a-zA-Z0-9_-]+$/.test(asText(value)))
    refuse(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      param,
    )
}

const rootMessage =
  "Invalid schema for function: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."

function checkFunction(definition: Json, { place, model }: { place: string; model: string }): void {
  checkName(definition['name'], `${place}.name`)
  checkPlainRoot(definition['parameters'], rootMessage)
  if (isOriginals(model)) checkOpenAiParameters(definition['parameters'], asText(definition['name']))
  if (definition['strict'] === true)
    checkOpenAiStrict(definition['parameters'], `function '${asText(definition['name'])}'`)
}

/** https://platform.openai.com/docs/api-reference/chat/create, `response_format.json_schema.name`: as names of tools. */
function checkFormat(format: Json): void {
  if (format['schema'] !== undefined) checkName(format['name'], 'response_format.json_schema.name')
  if (format['strict'] === true) checkOpenAiStrict(format['schema'], 'response_format')
}

/** "Invalid 'tools': array too long. Expected an array with maximum length 128": https://github.com/musistudio/claude-code-router/issues/686 */
function checkToolCount(body: Json): void {
  const { length } = asList(body['tools'])
  if (length > 128)
    refuse(
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${length} instead.`,
      'tools',
    )
}

/** https://platform.openai.com/docs/api-reference/chat/create, `tool_choice`: "'tool_choice' is only allowed when 'tools' are specified." */
function checkChoice(body: Json): void {
  if (asList(body['tools']).length > 0) return
  for (const name of ['tool_choice', 'parallel_tool_calls'])
    if (body[name] !== undefined) refuse(`'${name}' is only allowed when 'tools' are specified.`, name)
}

/**
 * https://platform.openai.com/docs/api-reference/chat/create: a list of parts is not empty ("Invalid 'messages[1].content': empty array"), a
 * tool's content has text parts only, and what answers nothing says something.
 */
function checkContent(message: Json, index: number): void {
  const { content, role } = message
  if (Array.isArray(content) && content.length === 0)
    refuse(`Invalid 'messages[${index}].content': empty array. Expected an array with minimum length 1.`, 'messages')
  if (role === 'tool' && asObjects(content).some((part) => part['type'] !== 'text'))
    refuse(`Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user'.`, 'messages')
  const hasOutput = ['tool_calls', 'function_call', 'refusal', 'audio'].some((name) => (message[name] ?? null) !== null)
  if ((content ?? null) === null && !(role === 'assistant' && hasOutput))
    refuse(`Invalid value for 'content': expected a string, got null.`, `messages.[${index}].content`)
  // "Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'": https://github.com/langchain-ai/langchain/issues/26431
  if (message['name'] !== undefined && !/^[^\s<|\\/>]{1,64}$/.test(asText(message['name'])))
    refuse(`Invalid 'messages[${index}].name': string does not match pattern.`, 'messages')
}

const partFields = words('type text image_url input_audio file refusal cache_control video_url thinking')
/** https://docs.mistral.ai/api, `DocumentURLChunk` and `FileChunk` */
const documentFields = words('document_url document_name file_id')

export function checkChat(body: Json, { path }: { path: string }): void {
  checkFields(body, [...chatFields, ...vendorFields])
  const model = asText(body['model'])
  if (responsesOnly.test(model))
    throw new Refusal({ status: 404, message: 'This model is only supported in v1/responses.', param: 'model' })
  // `stop`: "Not supported with latest reasoning models `o3` and `o4-mini`"; the fifth generation answers the same.
  const refused = words('max_tokens temperature top_p presence_penalty frequency_penalty logprobs stop')
  if (isReasoning(model)) for (const name of refused) if (body[name] !== undefined) unsupported(name, model)
  // https://github.com/ZenMux/zenmux-doc/issues/59
  if (isReasoning(model) && body['max_completion_tokens'] === 1)
    refuse('Could not finish the message because max_tokens or model output limit was reached.')
  if (asList(body['stop']).length > 4) refuse("Invalid 'stop': array too long.", 'stop')
  checkLength(body['user'], 64, 'user')
  for (const modality of asList(body['modalities']))
    if (modality !== 'text' && modality !== 'audio')
      refuse(`Invalid value: '${asText(modality)}'. Supported values are: 'text' and 'audio'.`, 'modalities')
  checkToolCount(body)
  checkChoice(body)
  checkVendor(body, path)
  for (const [index, message] of asObjects(body['messages']).entries()) {
    checkContent(message, index)
    checkFields(
      message,
      words(
        'role content name refusal annotations parsed audio tool_calls tool_call_id function_call reasoning_content reasoning_details reasoning prefix partial',
      ),
      'messages.',
    )
    for (const part of asObjects(message['content']))
      checkFields(part, isMistral(model) ? [...partFields, ...documentFields] : partFields, 'messages.content.')
    checkLength(message['tool_call_id'], 40, `messages[${index}].tool_call_id`)
    for (const call of asObjects(message['tool_calls'])) {
      checkLength(call['id'], 40, `messages[${index}].tool_calls[0].id`)
      checkName(asObject(call['function'] ?? call['custom'])['name'], `messages[${index}].tool_calls[0].function.name`)
    }
  }
  for (const [index, tool] of asObjects(body['tools']).entries())
    if (tool['type'] === 'function')
      checkFunction(asObject(tool['function']), { place: `tools[${index}].function`, model })
  checkFormat(asObject(asObject(body['response_format'])['json_schema']))
}

const isCall = (item: Json) => item['type'] === 'function_call' || item['type'] === 'custom_tool_call'
const isOutput = (item: Json) => item['type'] === 'function_call_output' || item['type'] === 'custom_tool_call_output'

/**
 * "No tool call found for function call output with call_id …": https://github.com/continuedev/continue/issues/10092; "No tool output found for
 * function call …": https://github.com/router-for-me/CLIProxyAPI/issues/2368
 */
function checkItemPairs(items: Json[]): void {
  const called = new Set(items.filter(isCall).map((item) => asText(item['call_id'])))
  const answered = new Set(items.filter(isOutput).map((item) => asText(item['call_id'])))
  for (const id of answered)
    if (!called.has(id)) refuse(`No tool call found for function call output with call_id ${id}.`, 'input')
  for (const id of called) if (!answered.has(id)) refuse(`No tool output found for function call ${id}.`, 'input')
}

/**
 * "Expected an ID that begins with 'msg'.": https://github.com/openai/codex/issues/33176; 'fc': https://github.com/Wei-Shaw/sub2api/issues/3785, with
 * outputs; 'rs': https://github.com/jlcodes99/cockpit-tools/issues/2090; 'ctc': https://github.com/BigPizzaV3/CodexPlusPlus/issues/1796; 'ws': as
 * https://platform.openai.com/docs/guides/tools-web-search names them. "Expected an ID that contains letters, numbers, underscores, or dashes":
 * https://github.com/langchain-ai/langchainjs/issues/11044; at most 64: https://github.com/mweinbach/open-grok/pull/23.
 */
const beginnings: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fc',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctc',
  web_search_call: 'ws',
}

/** Required fields, as the types of the `openai` package have them (`ResponseFunctionWebSearch`, `ResponseInputItem.McpCall`). */
const requiredFields: Readonly<Record<string, string[]>> = {
  web_search_call: ['action'],
  mcp_call: ['id', 'server_label', 'name', 'arguments'],
}

function checkOwnItem(item: Json, index: number): void {
  const type = asText(item['type'] ?? 'message')
  const begins = beginnings[type]
  const { id } = item
  const wrong = (expected: string): never => {
    throw new Refusal({
      status: 400,
      message: `Invalid 'input[${index}].id': '${asText(id)}'. Expected an ID that ${expected}.`,
      param: `input[${index}].id`,
      code: 'invalid_value',
    })
  }
  if (begins !== undefined && typeof id === 'string') {
    if (!/^[\w-]+$/.test(id)) wrong('contains letters, numbers, underscores, or dashes')
    if (!id.startsWith(begins)) wrong(`begins with '${begins}'`)
    checkLength(id, 64, `input[${index}].id`)
  }
  for (const name of requiredFields[type] ?? [])
    if ((item[name] ?? null) === null) refuse(`Missing required parameter: 'input[${index}].${name}'.`, 'input')
}

/** https://platform.openai.com/docs/guides/tools-connectors-mcp */
function checkRemoteServer(tool: Json, index: number): void {
  const place = `tools[${index}]`
  if (asText(tool['server_label']) === '') refuse(`Missing required parameter: '${place}.server_label'.`, place)
  if (asText(tool['server_url'] ?? tool['connector_id']) === '')
    refuse("One of 'server_url' or 'connector_id' must be provided.", place)
  const approval = tool['require_approval'] ?? 'always'
  if (typeof approval === 'string' && !['always', 'never'].includes(approval))
    refuse(`Invalid value: '${approval}'. Supported values are: 'always' and 'never'.`, `${place}.require_approval`)
}

const itemKinds = words(
  'message function_call function_call_output custom_tool_call custom_tool_call_output reasoning item_reference local_shell_call local_shell_call_output web_search_call file_search_call image_generation_call code_interpreter_call computer_call computer_call_output mcp_call mcp_list_tools mcp_approval_request mcp_approval_response compaction additional_tools tool_search_call tool_search_output',
)

export function checkResponses(body: Json): void {
  checkFields(body, responsesFields)
  const model = asText(body['model'])
  for (const name of ['temperature', 'top_p'])
    if (isReasoning(model) && body[name] !== undefined) unsupported(name, model)
  // "Invalid 'max_output_tokens': integer below minimum value.": https://github.com/UKGovernmentBEIS/inspect_evals/issues/694
  const limit = asNumber(body['max_output_tokens'])
  if (limit !== undefined && limit < 16)
    throw new Refusal({
      status: 400,
      message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`,
      param: 'max_output_tokens',
      code: 'integer_below_min_value',
    })
  checkLength(body['user'], 64, 'user')
  checkToolCount(body)
  checkOutputLimit(body, ['max_output_tokens'])
  const items = asObjects(body['input'])
  // "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."; instructions do not count:
  // https://platform.openai.com/docs/guides/structured-outputs, "JSON mode".
  if (asObject(asObject(body['text'])['format'])['type'] === 'json_object')
    checkJsonWord(
      [body['input'], ...items.map((item) => item['content'])],
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    )
  for (const [index, item] of items.entries()) {
    if (item['type'] !== undefined && !itemKinds.includes(asText(item['type'])))
      refuse(`Invalid value: '${asText(item['type'])}'.`, 'input')
    checkLength(item['call_id'], 64, `input[${index}].call_id`)
    checkOwnItem(item, index)
    if (isCall(item)) checkName(item['name'], `input[${index}].name`)
  }
  const continues = ['previous_response_id', 'conversation'].some((name) => (body[name] ?? null) !== null)
  if (!continues && !items.some((item) => item['type'] === 'item_reference')) checkItemPairs(items)
  for (const [index, tool] of asObjects(body['tools']).entries()) {
    if (tool['function'] !== undefined) refuse('tools[0].function', 'tools')
    if (tool['type'] === 'function') checkFunction(tool, { place: `tools[${index}]`, model })
    if (tool['type'] === 'mcp') checkRemoteServer(tool, index)
  }
  checkFormat(asObject(asObject(body['text'])['format']))
}
