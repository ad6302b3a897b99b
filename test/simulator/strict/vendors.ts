import { checkSignature } from '../gemini/signatures.ts'
import { asNumber, asObject, asObjects, asText, refuse, Refusal, type Json } from '../prompt.ts'
import { innerSchemas } from './schemas.ts'

const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asObjects(content)
        .map((part) => asText(part['text']))
        .join(' ')

/** JSON mode wants its word among what is said: see the rules that name it. */
export function checkJsonWord(texts: readonly unknown[], message: string): void {
  if (!texts.some((text) => /json/i.test(contentText(text)))) refuse(message, 'messages')
}

/**
 * "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.":
 * https://platform.openai.com/docs/guides/structured-outputs, "JSON mode"; https://api-docs.deepseek.com/guides/json_mode;
 * https://help.aliyun.com/zh/model-studio/json-mode.
 */
function checkJsonMode(body: Json): void {
  if (asObject(body['response_format'])['type'] !== 'json_object') return
  checkJsonWord(
    asObjects(body['messages']).map((message) => message['content']),
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  )
}

/** "Unexpected role 'user' after role 'tool'": https://github.com/zed-industries/zed/issues/37021, https://github.com/avante-corp/avante.nvim/pull/2695 */
function checkMistralOrder(messages: Json[]): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.['role']
    if (before === 'tool' && message['role'] !== 'tool' && message['role'] !== 'assistant')
      refuse(`Unexpected role '${asText(message['role'])}' after role 'tool'`)
  }
  const last = messages.at(-1)
  if (last?.['role'] === 'assistant' && last['prefix'] !== true)
    refuse('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant')
}

/** "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9.": https://github.com/anomalyco/opencode/issues/1680 */
function checkMistralIds(messages: Json[]): void {
  const ids = messages.flatMap((message) => [
    message['tool_call_id'],
    ...asObjects(message['tool_calls']).map((call) => call['id']),
  ])
  for (const id of ids)
    if (id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(asText(id)))
      refuse(`Tool call id was ${asText(id)} but must be a-z, A-Z, 0-9, with a length of 9.`)
}

/** https://docs.mistral.ai/api/#tag/chat: other names are "Extra inputs are not permitted". */
const foreignToMistral = ['seed', 'user', 'stream_options', 'max_completion_tokens', 'store', 'top_k', 'service_tier']

/** Whoever writes to it, by what it may say; files are named by an id or stand as documents. */
const mistralMessage: Readonly<Record<string, readonly string[]>> = {
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
}

/**
 * "Extra inputs are not permitted" at `messages.0.user.name`: https://github.com/nomtek/mistralai_client_dart/issues/44,
 * https://github.com/Gage-Technologies/mistral-go/issues/2; parts: https://docs.mistral.ai/api, `ContentChunk`.
 */
function checkMistralMessages(messages: Json[]): void {
  for (const [index, message] of messages.entries()) {
    const role = asText(message['role'])
    const known = mistralMessage[role] ?? ['role', 'content']
    const odd = Object.keys(message).find((name) => !known.includes(name))
    if (odd) refuse(`Extra inputs are not permitted: body.messages.${index}.${role}.${odd}`)
    for (const part of asObjects(message['content']))
      if (part['file'] !== undefined) refuse(`Extra inputs are not permitted: body.messages.${index}.${role}.file`)
  }
}

function checkMistral(body: Json): void {
  const odd = foreignToMistral.find((name) => body[name] !== undefined)
  if (odd !== undefined) refuse(`Extra inputs are not permitted: ${odd}`)
  const messages = asObjects(body['messages'])
  checkMistralMessages(messages)
  checkMistralOrder(messages)
  checkMistralIds(messages)
}

const refuseVariant = (place: string, type: string, expected: string): never =>
  refuse(
    `Failed to deserialize the JSON body into the target type: ${place}: unknown variant \`${type}\`, expected ${expected}`,
  )

/**
 * "messages[66].content: unknown variant `image`, expected one of `text`, `tool_use`, `tool_result`, `thinking`":
 * https://github.com/deepseek-ai/DeepSeek-V3/issues/1026; a result's content is as a message's.
 */
export function checkDeepSeekBlocks(body: Json): void {
  const messages = asObjects(body['messages'])
  const reads = seesImages.test(asText(body['model'])) ? 'image' : undefined
  for (const [index, message] of messages.entries()) {
    // https://github.com/deepseek-ai/awesome-deepseek-integration/issues/639
    if (message['role'] === 'system') refuseVariant(`messages[${index}].role`, 'system', '`user` or `assistant`')
    for (const block of asObjects(message['content']).flatMap((each) => [each, ...asObjects(each['content'])]))
      if (block['type'] !== reads && (block['type'] === 'image' || block['type'] === 'document'))
        refuseVariant(
          `messages[${index}].content`,
          asText(block['type']),
          'one of `text`, `tool_use`, `tool_result`, `thinking`',
        )
  }
  // https://github.com/deepseek-ai/DeepSeek-V3/issues/1397
  if (asObject(body['thinking'])['type'] === 'disabled' && asObject(body['output_config'])['effort'] !== undefined)
    refuse('thinking options type cannot be disabled when reasoning_effort is set')
  if (!thinks(body)) return
  refuseForced(body, 'Thinking mode does not support this tool_choice')
  const typesOf = (message: Json) => asObjects(message['content']).map((block) => block['type'])
  // https://github.com/QwenLM/qwen-code/pull/3788
  if (messages.map(typesOf).some((types) => types.includes('tool_use') && !types.includes('thinking')))
    refuse('The `content[].thinking` in the thinking mode must be passed back to the API.')
}

/** https://api-docs.deepseek.com/guides/vision */
const seesImages = /flash|vision/

/** As it is asked to, else as the model does unasked. */
const thinks = (body: Json): boolean => {
  const mode = asObject(body['thinking'])['type']
  return mode === undefined ? /v[4-9]|flash|^kimi-k2\.[56]/.test(asText(body['model'])) : mode !== 'disabled'
}

/** A tool that must be called: https://github.com/deepseek-ai/DeepSeek-V3/issues/1376, https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152 */
function refuseForced(body: Json, message: string): void {
  const choice = body['tool_choice']
  if (choice === 'required' || ['function', 'any', 'tool'].includes(asText(asObject(choice)['type']))) refuse(message)
}

/**
 * Kimi: names of functions, https://github.com/MoonshotAI/kimi-cli/issues/2531; schemas, https://github.com/MoonshotAI/walle; and what the models
 * that think refuse, of which this one can be asked not to.
 */
function checkKimi(body: Json): void {
  for (const tool of asObjects(body['tools']).map((each) => asObject(each['function']))) {
    if (!/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(asText(tool['name'])))
      refuse(
        'function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes',
      )
    // https://github.com/lidge-jun/opencodex/issues/228
    if (tool['parameters'] !== undefined && asObject(tool['parameters'])['type'] !== 'object')
      refuse('tools.function.parameters.type is required and must be "object"')
    const odd = innerSchemas(tool['parameters']).some(
      (each) => each['type'] !== undefined && each['anyOf'] !== undefined,
    )
    if (odd)
      refuse(
        'tools.function.parameters is not a valid moonshot flavored json schema, details: <when using anyOf, type should be defined in anyOf items instead of the parent schema>',
      )
  }
  if (!thinks(body)) return
  refuseForced(body, "tool_choice 'specified' is incompatible with thinking enabled")
  const odd = asObjects(body['messages']).findIndex(
    (message) => asObjects(message['tool_calls']).length > 0 && asText(message['reasoning_content']) === '',
  )
  if (odd >= 0)
    refuse(`thinking is enabled but reasoning_content is missing in assistant tool call message at index ${odd}`)
}

/**
 * "unknown variant `image_url`, expected `text`": https://github.com/1jehuang/jcode/issues/310, https://github.com/rikkahub/rikkahub/issues/1433.
 * "The `reasoning_content` in the thinking mode must be passed back to the API.": https://api-docs.deepseek.com/guides/thinking_mode, of
 * answers that called a tool.
 */
function checkDeepSeek(body: Json): void {
  for (const [index, message] of asObjects(body['messages']).entries()) {
    // https://github.com/eclipse-theia/theia/issues/15144
    if (message['role'] === 'developer')
      refuseVariant(`messages[${index}].role`, 'developer', 'one of `system`, `user`, `assistant`, `tool`')
    const reads = seesImages.test(asText(body['model'])) ? ['text', 'image_url'] : ['text']
    const odd = asObjects(message['content']).find((part) => !reads.includes(asText(part['type'])))
    if (odd) refuseVariant(`messages[${index}]`, asText(odd['type']), '`text`')
  }
  if (!thinks(body)) return
  refuseForced(body, 'Thinking mode does not support this tool_choice')
  for (const message of asObjects(body['messages']))
    if (asObjects(message['tool_calls']).length > 0 && message['reasoning_content'] === undefined)
      refuse('The `reasoning_content` in the thinking mode must be passed back to the API.')
}

/** The template of the models, whichever server runs them: https://github.com/vllm-project/vllm/issues/41114 */
function checkQwenTemplate(body: Json): void {
  if (asObjects(body['messages']).some((message, index) => message['role'] === 'system' && index > 0))
    refuse('System message must be at the beginning.')
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Models that answer in streams alone: https://github.com/infiniflow/ragflow/issues/5912, https://help.aliyun.com/zh/model-studio/glm */
const streamsOnly = /^(qwq|qvq|glm-4\.[56])/

/** 'The "function.arguments" parameter of the code model must be in JSON format.': https://github.com/HKUDS/nanobot/issues/1487 */
function checkDashScope(body: Json): void {
  if (body['stream'] !== true && streamsOnly.test(asText(body['model'])))
    refuse('This model only support stream mode, please enable the stream parameter to access the model. ')
  for (const call of asObjects(body['messages']).flatMap((message) => asObjects(message['tool_calls'])))
    if (!isJson(asText(asObject(call['function'])['arguments'])))
      refuse(
        '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.',
      )
}

/**
 * "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.":
 * https://github.com/enoch3712/ExtractThinker/issues/346; the numbers: https://platform.openai.com/docs/models.
 */
const mostOutput: readonly (readonly [RegExp, number])[] = [
  [/^gpt-3\.5|^gpt-4-turbo/, 4096],
  [/^(chat)?gpt-4o/, 16_384],
  [/^gpt-4\.1/, 32_768],
  [/^o[134]/, 100_000],
  [/^gpt-5/, 128_000],
]

export function checkOutputLimit(body: Json, names: readonly string[]): void {
  const [, most] = mostOutput.find(([pattern]) => pattern.test(asText(body['model']))) ?? []
  for (const name of names) {
    const limit = asNumber(body[name])
    if (most !== undefined && limit !== undefined && limit > most)
      refuse(
        `${name} is too large: ${limit}. This model supports at most ${most} completion tokens, whereas you provided ${limit}.`,
        name,
      )
  }
}

/** https://api-docs.deepseek.com/api/create-chat-completion and https://docs.bigmodel.cn/api-reference, `user_id` */
function checkEndUser(body: Json, model: string): void {
  const user = body['user_id']
  if (user === undefined) return
  const isTaken = model.startsWith('glm-') ? /^.{6,128}$/s : /^[a-zA-Z0-9_-]{1,512}$/
  if (/^(glm|deepseek)-/.test(model) && !isTaken.test(asText(user))) refuse('Invalid user_id', 'user_id')
}

const mistralEmbeddingFields = ['model', 'input', 'metadata', 'output_dimension', 'output_dtype', 'encoding_format']

/**
 * Mistral's fields: https://docs.mistral.ai/api/endpoint/embeddings. "input batch size 83 > maximum allowed batch size 64" of SiliconFlow:
 * https://github.com/OpenSPG/KAG/issues/232; 32 by its reference, which some models hold to.
 */
export function checkEmbeddings(body: Json, inputs: number): void {
  const model = asText(body['model'])
  const odd = Object.keys(body).find((name) => !mistralEmbeddingFields.includes(name))
  if (/^(mistral|codestral)-embed/.test(model) && odd !== undefined)
    refuse(`Extra inputs are not permitted: body.${odd}`)
  if (/^(BAAI|Qwen)\//.test(model) && inputs > 32)
    throw new Refusal({
      status: 413,
      message: `input batch size ${inputs} > maximum allowed batch size 32`,
      code: '20042',
    })
}

export const isMistral = (model: string): boolean =>
  /^(mistral|magistral|ministral|codestral|pixtral|devstral)-/.test(model)

/**
 * Google's models in this form: "Function call is missing a thought_signature in functionCall parts.":
 * https://github.com/0xsline/OpenChatCut/issues/6, of the first call of each step of the present turn, from the third generation on.
 */
function checkGoogleProofs(messages: Json[], model: string): void {
  const isThird = Number(/^gemini-(\d+)/.exec(model)?.[1] ?? 0) >= 3
  const begin = messages.findLastIndex((message) => message['role'] === 'user')
  for (const [index, message] of messages.entries()) {
    const proofs = asObjects(message['tool_calls']).map(
      (call) => asObject(asObject(call['extra_content'])['google'])['thought_signature'],
    )
    for (const proof of proofs) checkSignature(proof)
    if (isThird && index > begin && proofs.length > 0 && proofs[0] === undefined)
      refuse('Function call is missing a thought_signature in functionCall parts.')
  }
}

/** A model and its variant, as the servers name them. */
const isOllama = (model: string): boolean => /^[\w.-]+:[\w.-]+$/.test(model)

/** https://github.com/ollama/ollama, `openai/openai.go` */
function checkOllama(body: Json): void {
  for (const part of asObjects(body['messages']).flatMap((message) => asObjects(message['content']))) {
    const image = part['image_url']
    const address = typeof image === 'string' ? image : asText(asObject(image)['url'])
    if (part['type'] === 'image_url' && !address.startsWith('data:'))
      refuse('image URLs are not currently supported, please use base64 encoded data instead')
  }
}

/** What single vendors of OpenAI's form refuse, distinguished by their models and paths. */
export function checkVendor(body: Json, path: string): void {
  const model = asText(body['model'])
  const isAli = path.includes('/compatible-mode/')
  if (isAli || /^(gpt-|o\d|deepseek-)/.test(model)) checkJsonMode(body)
  if (isAli) checkDashScope(body)
  if (isMistral(model)) checkMistral(body)
  if (model.startsWith('deepseek-')) checkDeepSeek(body)
  if (/^kimi-k2\.[56]$/.test(model)) checkKimi(body)
  if (/^qwen3\.[5-9]/.test(model)) checkQwenTemplate(body)
  if (isOllama(model)) checkOllama(body)
  if (model.startsWith('gemini-')) checkGoogleProofs(asObjects(body['messages']), model)
  checkEndUser(body, model)
  checkOutputLimit(body, ['max_tokens', 'max_completion_tokens'])
}
