import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest, Message, ReasoningInput, ResponseFormat } from '#relay/chat/request.ts'
import { defined, isEffort, leftOver, readerFor, unreadNames } from '../read.ts'
import { type Conversation, readAssistantBlocks, readTexts, readUserBlocks } from './content.ts'
import { readTools, readToolChoice } from './tools.ts'

const read = readerFor('invalid_claude_request')

const known = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'metadata',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'service_tier',
])

/** Body of `/v1/messages` → hub request. */
export function parseClaude(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  const maxTokens = read.maxTokens(body['max_tokens'], 'max_tokens')
  const list = read.list(body['messages'], 'messages') ?? []
  if (list.length === 0) throw read.required('messages')
  const model = read.name(body['model'] ?? path.model, 'model')
  const conversation: Conversation = { read, names: new Map(), losses: new Set(), nativeOnly: [], toolChanges: [] }
  const system = readTexts(body['system'], 'system', conversation)
  const messages = list
    .map((message, index) => readMessage(message, `messages[${index}]`, conversation))
    .filter(({ role, content }) => role !== 'system' || content.length > 0)
  const { tools, losses: toolLosses, ...beside } = readTools(body['tools'], read, conversation.toolChanges)
  const nativeOnly = [...conversation.nativeOnly, ...beside.nativeOnly]
  const metadata = read.object(body['metadata'], 'metadata')
  const reasoning = readThinking(body, conversation)
  return defined({
    model,
    messages: system.length === 0 ? messages : [{ role: 'system' as const, content: system }, ...messages],
    tools,
    ...readToolChoice(body['tool_choice'], read),
    // Zero asks only to warm the prompt cache, which takes an answer of one token elsewhere.
    maxTokens: maxTokens === 0 ? 1 : maxTokens,
    temperature: read.number(body['temperature'], 'temperature'),
    topP: read.number(body['top_p'], 'top_p'),
    topK: read.integer(body['top_k'], 'top_k', [0, 1_000_000_000]),
    stop: read.texts(body['stop_sequences'], 'stop_sequences') ?? [],
    responseFormat: readFormat(body),
    reasoning,
    user: read.text(metadata?.['user_id'], 'metadata.user_id'),
    serviceTier: readTier(body['service_tier']),
    stream: read.flag(body['stream'], 'stream') ?? false,
    includeUsage: true,
    extra: { dialect: 'claude' as const, fields: leftOver(body, known) },
    nativeOnly: nativeOnly.length === 0 ? undefined : nativeOnly,
    losses: [...conversation.losses, ...toolLosses, ...unreadOutput(body)],
  })
}

function readMessage(value: unknown, path: string, conversation: Conversation): Message {
  if (!isObject(value)) throw read.invalid(path)
  const at = `${path}.content`
  switch (value['role'] ?? 'user') {
    case 'system':
      readOwnOutput(value, path, conversation)
      return { role: 'system', content: readTexts(value['content'], at, conversation) }
    case 'user':
      return { role: 'user', content: readUserBlocks(value['content'], at, conversation) }
    case 'assistant':
      return { role: 'assistant', content: readAssistantBlocks(value['content'], at, conversation) }
    default:
      throw read.invalid(`${path}.role`)
  }
}

/** An instruction may say how much is thought from there on. */
function readOwnOutput(message: Fields, path: string, conversation: Conversation): void {
  const config = read.object(message['output_config'], `${path}.output_config`) ?? {}
  const { effort } = config
  if (isEffort(effort)) conversation.effort = effort
  const unread = unreadNames(config, new Set(isEffort(effort) ? ['effort'] : []), 'messages.output_config')
  for (const name of unread) conversation.losses.add(name)
}

/** What the answer is to be like beyond what the hub knows: another format, another effort, a budget for a whole task. */
function unreadOutput(body: Fields): string[] {
  const config = read.object(body['output_config'], 'output_config') ?? {}
  const format = config['format'] ?? body['output_format'] ?? undefined
  return Object.entries({ ...config, format }).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const isRead =
      name === 'effort' ? isEffort(value) : name === 'format' && isObject(value) && value['type'] === 'json_schema'
    return isRead ? [] : [`output_config.${name}`]
  })
}

/** The hub speaks of tiers in the words of chat completions. */
function readTier(value: unknown): string | undefined {
  const tier = read.text(value, 'service_tier')
  return tier === 'standard_only' ? 'default' : tier
}

function readThinking(body: Fields, { losses, effort: later }: Conversation): ReasoningInput | undefined {
  const thinking = read.object(body['thinking'], 'thinking') ?? {}
  const effort = later ?? read.object(body['output_config'], 'output_config')?.['effort']
  const { type, display } = thinking
  const isMode = type === 'enabled' || type === 'adaptive' || type === 'disabled'
  if (type !== undefined && !isMode) losses.add('thinking')
  const input: ReasoningInput = defined({
    // A mode of which the hub knows nothing (thinking between tool calls only) still is one that holds back.
    mode: isMode ? type : type === undefined ? undefined : 'disabled',
    effort: isEffort(effort) ? effort : undefined,
    budgetTokens: read.integer(thinking['budget_tokens'], 'thinking.budget_tokens', [0, 1_073_741_823]),
    includeThoughts: typeof display === 'string' ? display !== 'omitted' : undefined,
  })
  return Object.keys(input).length === 0 ? undefined : input
}

function readFormat(body: Fields): ResponseFormat | undefined {
  const format = read.object(
    read.object(body['output_config'], 'output_config')?.['format'] ?? body['output_format'],
    'output_config.format',
  )
  if (format?.['type'] !== 'json_schema') return undefined
  const schema = read.object(format['schema'], 'output_config.format.schema') ?? {}
  return { type: 'json-schema', name: 'output', schema, strict: true }
}
