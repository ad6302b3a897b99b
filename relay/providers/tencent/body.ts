import { isDefaultValue } from '../shared/default-values.ts'
import { joinContent } from '../shared/join-content.ts'
import { type Json, listOf, recordOf, recordsOf, textOf, withoutAbsent } from '../shared/json.ts'

/** Names of this vendor begin each word with a capital letter. */
const toSnake = (name: string): string => name.replaceAll(/(?<=[a-z0-9])([A-Z])/g, '_$1').toLowerCase()

/** An answer under the names of the OpenAI form. Texts stay as they are, names inside them too. */
export function toSnakeNames(value: unknown, depth = 0): unknown {
  if (depth > 32) return undefined
  if (Array.isArray(value)) return value.map((entry) => toSnakeNames(entry, depth + 1))
  const record = recordOf(value)
  if (!record) return value
  return Object.fromEntries(
    Object.entries(record).map(([name, child]) => [toSnake(name), toSnakeNames(child, depth + 1)]),
  )
}

const contentPart = (part: Json): Json =>
  part['type'] === 'image_url'
    ? { Type: 'image_url', ImageUrl: { Url: recordOf(part['image_url'])?.['url'] } }
    : { Type: 'text', Text: textOf(part['text']) ?? '' }

function toolCall(call: Json, index: number): Json {
  const fn = recordOf(call['function']) ?? {}
  return { Id: call['id'], Type: 'function', Index: index, Function: { Name: fn['name'], Arguments: fn['arguments'] } }
}

function message(given: Json): Json {
  const content = given['content']
  const calls = recordsOf(given['tool_calls'])
  return withoutAbsent({
    Role: given['role'],
    ...(Array.isArray(content) ? { Contents: recordsOf(content).map(contentPart) } : { Content: content ?? '' }),
    ToolCallId: given['tool_call_id'],
    ToolCalls: calls.length > 0 ? calls.map(toolCall) : undefined,
  })
}

const isSystem = ({ role }: Json): boolean => role === 'system'
const callsIn = (given: Json): Json[] => recordsOf(given['tool_calls'])

/**
 * Instructions first, then user and assistant in turn, from the user on and to the user or a tool:
 * https://github.com/TencentCloud/tencentcloud-sdk-go, `hunyuan/v20230901/models.go`, `ChatCompletionsRequest.Messages`.
 */
function inTurn(given: readonly Json[]): Json[] {
  const turns: Json[] = []
  for (const next of [...given.filter(isSystem), ...given.filter((each) => !isSystem(each))]) {
    const last = turns.at(-1)
    if (last && last['role'] === next['role'] && next['role'] !== 'tool' && callsIn(last).length === 0)
      turns[turns.length - 1] = { ...last, ...next, content: joinContent(last['content'], next['content']) }
    else turns.push(next)
  }
  const begin = turns.findIndex((turn) => !isSystem(turn))
  if (begin >= 0 && turns[begin]?.['role'] === 'assistant') turns.splice(begin, 0, { role: 'user', content: '...' })
  if (turns.at(-1)?.['role'] === 'assistant') turns.push({ role: 'user', content: 'Continue.' })
  return turns
}

function tool(given: Json): Json {
  const fn = recordOf(given['function']) ?? {}
  return {
    Type: 'function',
    Function: withoutAbsent({
      Name: fn['name'],
      Description: fn['description'],
      Parameters: JSON.stringify(fn['parameters'] ?? { type: 'object', properties: {} }),
    }),
  }
}

/** One tool by its name is all that can be demanded: any of several cannot. */
function toolChoice(choice: unknown, tools: readonly Json[], losses: string[]): Json {
  const named = recordOf(recordOf(choice)?.['function'])?.['name']
  const demanded =
    choice === 'required' && tools.length === 1
      ? tools[0]
      : tools.find((each) => named !== undefined && recordOf(each['function'])?.['name'] === named)
  if (demanded) return { ToolChoice: 'custom', CustomTool: tool(demanded) }
  if (choice === 'none' || choice === 'auto') return { ToolChoice: choice }
  if (choice !== undefined) losses.push('tool_choice')
  return {}
}

const taken = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'enable_thinking',
])

/** A body of the OpenAI form under this vendor's names, and the fields it does not know. */
export function toTencentBody(body: Json): { body: Json; losses: string[] } {
  const tools = recordsOf(body['tools'])
  const stop = body['stop']
  const losses = Object.entries(body).flatMap(([name, value]) =>
    taken.has(name) || isDefaultValue(name, value) ? [] : [name],
  )
  if (tools.some((each) => recordOf(each['function'])?.['strict'] === true)) losses.push('tools.strict')
  const temperature = typeof body['temperature'] === 'number' ? Math.min(body['temperature'], 2) : undefined
  return {
    body: withoutAbsent({
      Model: body['model'],
      Messages: inTurn(recordsOf(body['messages'])).map(message),
      Stream: body['stream'] === true,
      Temperature: temperature,
      TopP: body['top_p'],
      Seed: body['seed'],
      Stop: stop === undefined ? undefined : typeof stop === 'string' ? [stop] : listOf(stop),
      EnableThinking: body['enable_thinking'],
      ...(tools.length > 0 ? { Tools: tools.map(tool), ...toolChoice(body['tool_choice'], tools, losses) } : {}),
    }),
    losses,
  }
}
