import { has } from './directives.ts'
import { checkFields } from './fields.ts'
import { asList, asNumber, asObject, asObjects, asText, refuse, Refusal, type Json } from './prompt.ts'
import type { Call } from './types.ts'

const words = (text: string): string[] => text.split(' ')

const chatFields = words(
  'model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options',
)
const responsesFields = words(
  'model input background conversation include instructions max_output_tokens max_tool_calls metadata parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user',
)
const messagesFields = words(
  'model messages max_tokens cache_control container context_management inference_geo mcp_servers metadata output_config service_tier stop_sequences stream system temperature thinking tool_choice tools top_k top_p',
)
const generateFields = words(
  'contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent labels serviceTier store',
)
const generationFields = words(
  'stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution',
)
const partFields = words(
  'text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode codeExecutionResult videoMetadata mediaResolution',
)
const schemaFields = words(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum',
)

const isReasoning = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model)
const responsesOnly = /^(o1-pro|o3-pro|gpt-5(\.\d+)?-pro|gpt-5(\.\d+)?-codex)/

const unsupported = (name: string, model: string): never => {
  throw new Refusal({
    status: 400,
    message: `Unsupported parameter: '${name}' is not supported with ${model}.`,
    param: name,
    code: 'unsupported_parameter',
  })
}

/** A schema that has to be kept to the letter closes every object. */
function checkStrictSchema(format: Json): void {
  if (format['strict'] === true && asObject(format['schema'])['additionalProperties'] !== false)
    refuse("Invalid schema: 'additionalProperties' is required to be supplied and to be false.", 'response_format')
}

function checkChat(body: Json): void {
  checkFields(body, chatFields)
  const model = asText(body['model'])
  if (responsesOnly.test(model))
    throw new Refusal({ status: 404, message: 'This model is only supported in v1/responses.', param: 'model' })
  const refused = ['max_tokens', 'temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs']
  if (isReasoning(model)) for (const name of refused) if (body[name] !== undefined) unsupported(name, model)
  for (const message of asObjects(body['messages'])) {
    checkFields(
      message,
      words('role content name refusal annotations parsed audio tool_calls tool_call_id function_call'),
      'messages.',
    )
    for (const part of asObjects(message['content']))
      checkFields(part, words('type text image_url input_audio file refusal'), 'messages.content.')
  }
  checkStrictSchema(asObject(asObject(body['response_format'])['json_schema']))
}

function checkResponses(body: Json): void {
  checkFields(body, responsesFields)
  const model = asText(body['model'])
  for (const name of ['temperature', 'top_p'])
    if (isReasoning(model) && body[name] !== undefined) unsupported(name, model)
  const kinds = words('message function_call function_call_output custom_tool_call custom_tool_call_output reasoning')
  for (const item of asObjects(body['input']))
    if (item['type'] !== undefined && !kinds.includes(asText(item['type'])))
      refuse(`Invalid value: '${asText(item['type'])}'.`, 'input')
  for (const tool of asObjects(body['tools'])) if (tool['function'] !== undefined) refuse('tools[0].function', 'tools')
  checkStrictSchema(asObject(asObject(body['text'])['format']))
}

function checkMessages(body: Json): void {
  checkFields(body, messagesFields)
  const thinking = asObject(body['thinking'])
  const budget = asNumber(thinking['budget_tokens'])
  if (thinking['type'] === 'enabled') {
    if (budget === undefined || budget < 1024) refuse('thinking.enabled.budget_tokens: Input should be at least 1024')
    if ((budget ?? 0) >= (asNumber(body['max_tokens']) ?? 0))
      refuse('`max_tokens` must be greater than `thinking.budget_tokens`.')
    if (body['temperature'] !== undefined && body['temperature'] !== 1)
      refuse('`temperature` may only be set to 1 when thinking is enabled.')
    if (['any', 'tool'].includes(asText(asObject(body['tool_choice'])['type'])))
      refuse('Thinking may not be enabled when tool_choice forces tool use.')
  }
  for (const message of asObjects(body['messages'])) {
    checkFields(message, ['role', 'content'], 'messages.')
    if (asList(message['content']).length === 0 && asText(message['content']) === '')
      refuse('messages: text content blocks must be non-empty')
  }
  for (const tool of asObjects(body['tools']))
    if (tool['input_schema'] !== undefined && asObject(tool['input_schema'])['type'] !== 'object')
      refuse('tools.0.custom.input_schema.type: Field required')
}

function checkGoogleSchema(schema: unknown, place: string): void {
  const given = asObject(schema)
  checkFields(given, schemaFields, `${place}.`)
  for (const child of Object.values(asObject(given['properties']))) checkGoogleSchema(child, place)
  if (given['items'] !== undefined) checkGoogleSchema(given['items'], place)
}

function checkGenerate(body: Json): void {
  checkFields(body, generateFields)
  const config = asObject(body['generationConfig'])
  checkFields(config, generationFields, 'generation_config.')
  checkFields(
    asObject(config['thinkingConfig']),
    words('includeThoughts thinkingBudget thinkingLevel'),
    'thinking_config.',
  )
  checkGoogleSchema(config['responseSchema'], 'response_schema')
  for (const content of asObjects(body['contents'])) {
    checkFields(content, ['role', 'parts'], 'contents.')
    if (asList(content['parts']).length === 0) refuse('* GenerateContentRequest.contents.parts: must not be empty\n')
    for (const part of asObjects(content['parts'])) checkFields(part, partFields, 'contents.parts.')
  }
  for (const declaration of asObjects(body['tools']).flatMap((tool) => asObjects(tool['functionDeclarations']))) {
    checkFields(declaration, words('name description parameters parametersJsonSchema response behavior'), 'tools.')
    checkGoogleSchema(declaration['parameters'], 'parameters')
  }
}

const checks = { chat: checkChat, responses: checkResponses, messages: checkMessages, generate: checkGenerate }

/** With the directive `strict`, what the vendor refuses in a body beyond what anybody would. */
export function checkStrictly(
  kind: keyof typeof checks,
  { body, directives }: Pick<Call, 'body' | 'directives'>,
): void {
  if (has(directives, 'strict')) checks[kind](body)
}
