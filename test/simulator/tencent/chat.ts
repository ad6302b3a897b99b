import { sum, type Answer, type Finish, type Usage } from '../answer.ts'
import { checkFields } from '../fields.ts'
import { readMessages } from '../openai/read-messages.ts'
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  charactersOf,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'

const known = [
  'Model',
  'Messages',
  'Stream',
  'StreamModeration',
  'TopP',
  'Temperature',
  'EnableEnhancement',
  'Tools',
  'ToolChoice',
  'CustomTool',
  'SearchInfo',
  'Citation',
  'Seed',
  'Stop',
  'EnableThinking',
]

/** A message in the words of the dialect whose reader is shared. */
function asChatMessage(message: Json): Json {
  checkFields(message, ['Role', 'Content', 'Contents', 'ToolCallId', 'ToolCalls'], 'Messages.')
  const calls = asObjects(message['ToolCalls']).map((call) => {
    checkFields(call, ['Id', 'Type', 'Index', 'Function'], 'Messages.ToolCalls.')
    return { id: call['Id'] }
  })
  const contents = asObjects(message['Contents']).map((part) =>
    part['Type'] === 'image_url'
      ? { type: 'image_url', image_url: { url: asObject(part['ImageUrl'])['Url'] } }
      : { type: 'text', text: part['Text'] },
  )
  return {
    role: message['Role'],
    content: contents.length > 0 ? contents : message['Content'],
    ...(message['ToolCallId'] === undefined ? {} : { tool_call_id: message['ToolCallId'] }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function toolsOf(body: Json): Prompt['tools'] {
  return asObjects(body['Tools']).map((tool) => {
    const definition = asObject(tool['Function'])
    if (typeof definition['Parameters'] !== 'string') refuse('Tools.Function.Parameters must be a string')
    return { name: asText(definition['Name']), schema: JSON.parse(asText(definition['Parameters'])) as Json }
  })
}

/** "user 和 assistant 需交替出现": https://github.com/TencentCloud/tencentcloud-sdk-go, `hunyuan/v20230901/models.go`. */
function checkTurns(roles: string[]): void {
  const turns = roles[0] === 'system' ? roles.slice(1) : roles
  if (turns.includes('system')) refuse('the system message must be the first')
  if (turns[0] !== 'user') refuse('the first message must be of role user')
  if (turns.some((role, index) => role !== 'tool' && role === turns[index - 1]))
    refuse('messages of role user and assistant must alternate')
}

function read({ body, headers }: Call): Prompt {
  if (headers['x-tc-action'] !== 'ChatCompletions') refuse('The action is not valid.')
  if (headers['x-tc-version'] !== '2023-09-01') refuse('The version is not valid.')
  checkFields(body, known)
  if (!body['Model']) refuse('Model is required')
  const messages = asObjects(body['Messages']).map(asChatMessage)
  const last = asText(messages.at(-1)?.['role'])
  if (last !== 'user' && last !== 'tool') refuse('the last message must be of role user or tool')
  checkTurns(messages.map((message) => asText(message['role'])))
  const choice = body['ToolChoice']
  const forced = asText(asObject(asObject(body['CustomTool'])['Function'])['Name'])
  return {
    model: asText(body['Model']),
    stream: body['Stream'] === true,
    ...readMessages(messages),
    tools: toolsOf(body),
    toolChoice:
      choice === 'custom' ? { mode: 'required', name: forced } : { mode: choice === 'none' ? 'none' : 'auto' },
    thinking: body['EnableThinking'] === true,
    json: undefined,
    maxTokens: asNumber(body['MaxTokens']),
    stop: asTexts(body['Stop']),
    choices: 1,
    characters: charactersOf(messages) + charactersOf(body['Tools']),
  }
}

const finishWords: Record<Finish, string> = {
  stop: 'stop',
  length: 'stop',
  'tool-calls': 'tool_calls',
  'content-filter': 'sensitive',
}

const usageBody = ({ prompt, completion }: Usage) => ({
  PromptTokens: prompt,
  CompletionTokens: completion,
  TotalTokens: sum(prompt, completion),
})

const callBodies = (answer: Answer, call: Call) =>
  answer.toolCalls.map((each, Index) => ({
    Id: call.nextId('call_'),
    Type: 'function',
    Index,
    Function: { Name: each.name, Arguments: each.arguments },
  }))

const frame = (answer: Answer, call: Call) => ({
  Id: call.nextId('sim-'),
  Created: call.now,
  Note: 'made up',
  ...(answer.usage ? { Usage: usageBody(answer.usage) } : {}),
})

function unstreamed(answer: Answer, call: Call): Json {
  const calls = callBodies(answer, call)
  const Message = {
    Role: 'assistant',
    Content: answer.text.join(''),
    ...(answer.reasoning.length > 0 ? { ReasoningContent: answer.reasoning.join('') } : {}),
    ...(calls.length > 0 ? { ToolCalls: calls } : {}),
  }
  const Choices = [{ Index: 0, FinishReason: finishWords[answer.finish], Message }]
  return { Response: { RequestId: 'sim', ...frame(answer, call), Choices } }
}

function events(answer: Answer, call: Call): StreamEvent[] {
  const shared = frame(answer, call)
  const chunk = (Delta: Json, FinishReason = ''): StreamEvent => ({
    data: JSON.stringify({ ...shared, Choices: [{ Index: 0, FinishReason, Delta: { Role: 'assistant', ...Delta } }] }),
  })
  return [
    ...answer.reasoning.map((text) => chunk({ Content: '', ReasoningContent: text })),
    ...answer.text.map((text) => chunk({ Content: text })),
    ...callBodies(answer, call).flatMap((each) => {
      const { Arguments: text, Name } = each.Function
      const middle = Math.ceil(text.length / 2)
      const part = (given: string, more: Json = {}) =>
        chunk({
          Content: '',
          ToolCalls: [
            {
              ...more,
              Type: 'function',
              Index: each.Index,
              Function: { ...(more['Id'] ? { Name } : {}), Arguments: given },
            },
          ],
        })
      return [part('', { Id: each.Id }), part(text.slice(0, middle)), part(text.slice(middle))]
    }),
    chunk({ Content: '' }, finishWords[answer.finish]),
  ]
}

/** The action ChatCompletions; names begin with capitals, tools' parameters are text. */
export const chat: ChatOperation = {
  type: 'chat',
  read,
  write: (prompt, answer, call) =>
    prompt.stream ? { type: 'stream', events: events(answer, call) } : json(unstreamed(answer, call)),
}
