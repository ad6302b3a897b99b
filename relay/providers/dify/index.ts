import type { Message } from '#relay/chat/request.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { bearer } from '../openai-compatible/address.ts'
import { reshapedReading } from '../openai-compatible/reshaped.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { Provider, ProviderCall, Uploads, UpstreamRequest } from '../types.ts'
import { unsupported, withFormatInstruction } from '../shared/unsupported-fields.ts'
import { readFailure } from '../shared/failures.ts'
import { joinPath } from '../shared/join-path.ts'
import { countOf, type Json, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

const style: OpenAiStyle = {
  id: 'dify',
  label: 'Dify',
  channelTypes: [37],
  refusal: {
    mark: '"error"',
    read(answer) {
      if (answer['event'] !== 'error') return undefined
      const message = wordOf(answer['message']) ?? 'the application failed'
      return {
        status: numberOf(answer['status']) ?? 500,
        type: 'upstream_error',
        code: wordOf(answer['code']) ?? null,
        message,
      }
    },
  },
}

/** Which of its three kinds of application a channel calls. */
const operations: Readonly<Record<string, string>> = {
  workflow: '/workflows/run',
  completion: '/completion-messages',
}

/**
 * A workflow is always streamed: its nodes say what they used in the stream alone, and an answer in one piece is given up after 100
 * seconds. So is an agent: "Agent Chat App does not support blocking mode".
 */
const isStreamed = ({ stream, channel }: ProviderCall): boolean =>
  stream || channel.other === 'workflow' || channel.other === 'agent'

const operationOf = (other: string): string =>
  (Object.hasOwn(operations, other) ? operations[other] : undefined) ?? '/chat-messages'

const textsOf = (message: Message): string =>
  (message.content as { type: string; text?: string; content?: { type: string; text?: string }[] }[])
    .flatMap((part) => {
      if (part.type === 'text') return [part.text ?? '']
      return part.type === 'tool-result' ? (part.content ?? []).flatMap((inner) => inner.text ?? []) : []
    })
    .join('\n')

/** An application takes one question; a conversation is sent as a script. */
function queryOf(messages: readonly Message[]): string {
  const [only] = messages
  if (messages.length === 1 && only?.role === 'user') return textsOf(only)
  return messages.map((message) => `${message.role.toUpperCase()}: \n${textsOf(message)}\n`).join('')
}

function filesOf(messages: readonly Message[], losses: Set<string>): Json[] {
  return messages.flatMap((message) =>
    (message.role === 'user' ? message.content : []).flatMap((part): Json[] => {
      if (part.type !== 'image' && part.type !== 'file' && part.type !== 'audio') return []
      const type = part.type === 'file' ? 'document' : part.type
      if (part.source.kind === 'file-id') {
        return [{ type, transfer_method: 'local_file', upload_file_id: part.source.id }]
      }
      if (part.source.kind !== 'url') {
        losses.add(part.type)
        return []
      }
      return [{ type, transfer_method: 'remote_url', url: part.source.url }]
    }),
  )
}

function toRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const losses = new Set(unsupported(request))
  const query = queryOf(withFormatInstruction(request))
  const files = filesOf(request.messages, losses)
  const operation = operationOf(call.channel.other)
  const asInput = operation !== '/chat-messages'
  return {
    method: 'POST',
    url: joinPath(call.channel.baseUrl, '/v1', operation),
    headers: {
      'content-type': 'application/json',
      accept: isStreamed(call) ? 'text/event-stream' : 'application/json',
      ...bearer(call.channel.key),
    },
    body: {
      inputs: asInput ? { query } : {},
      ...(asInput ? {} : { query, auto_generate_name: false }),
      response_mode: isStreamed(call) ? 'streaming' : 'blocking',
      user: request.user ?? call.ambient.newId(16),
      files,
    },
    losses: [...losses],
  }
}

/** The text of a workflow's outputs: its one text, else all of them as JSON. */
function outputText(outputs: unknown): string {
  const fields = recordOf(outputs) ?? {}
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  if (texts.length === 1) return texts[0] as string
  return (
    textOf(fields['text']) ?? textOf(fields['answer']) ?? (Object.keys(fields).length > 0 ? JSON.stringify(fields) : '')
  )
}

const usageOf = (metadata: unknown): Json | undefined => recordOf(recordOf(metadata)?.['usage'])

const idOf = (json: Json): unknown => json['message_id'] ?? json['workflow_run_id'] ?? json['id']

/** A workflow says its total; what its nodes do not say that they read is taken for written. */
function workflowUsage(data: Json, read = 0): Json {
  const total = countOf(data['total_tokens'])
  if (total === undefined) return {}
  const promptTokens = Math.min(read, total)
  return { usage: { prompt_tokens: promptTokens, completion_tokens: total - promptTokens } }
}

/** What a node's model read, which it says among its outputs or of its work. */
function readBy(node: Json): number {
  const usage = usageOf(node['outputs']) ?? usageOf(node['process_data'])
  return numberOf(usage?.['prompt_tokens']) ?? 0
}

function completeAnswer(json: Json): Json {
  const data = recordOf(json['data'])
  if (data && json['answer'] === undefined) {
    if (data['status'] === 'failed') return { event: 'error', message: data['error'], status: 500 }
    const message = { role: 'assistant', content: outputText(data['outputs']) }
    return { id: idOf(json), choices: [{ index: 0, message, finish_reason: 'stop' }], ...workflowUsage(data) }
  }
  if (typeof json['answer'] !== 'string') return json
  const usage = usageOf(json['metadata'])
  const message = { role: 'assistant', content: json['answer'] }
  return { id: idOf(json), choices: [{ index: 0, message, finish_reason: 'stop' }], ...(usage ? { usage } : {}) }
}

const delta = (json: Json, fields: Json): Json => ({
  id: idOf(json),
  choices: [{ index: 0, delta: fields, finish_reason: null }],
})

const finish = (json: Json, fields: Json = {}): Json => ({
  id: idOf(json),
  choices: [{ index: 0, delta: fields, finish_reason: 'stop' }],
})

const nodeName = (node: Json): string => wordOf(node['title']) ?? wordOf(node['node_type']) ?? 'Node'

/** What an application is at, returned as its reasoning: the name of a step, and how it ended once it has. */
function step(json: Json, name: string): Json {
  const status = wordOf(recordOf(json['data'])?.['status'])
  const ended = String(json['event']).endsWith('_finished')
  return delta(json, { reasoning_content: ended ? `${name}: ${status ?? 'finished'}\n` : `${name} …\n` })
}

/** Of one stream: what the nodes of a workflow say that they read is reported at its end, and its outputs if none were streamed. */
function createChunkReader({ stream }: ProviderCall): (json: Json) => Json | undefined {
  let read = 0
  let text = ''
  // Steps are for who asked for a stream.
  const stepOf = (json: Json, name: string) => (stream ? step(json, name) : undefined)

  function workflowEnd(json: Json, data: Json): Json | undefined {
    if (data['status'] === 'failed') return { event: 'error', message: data['error'], status: 500 }
    // In a chat the closing event follows; a workflow ends here.
    if (json['conversation_id'] !== undefined) return stepOf(json, 'Workflow')
    // Only some of the outputs are streamed: who waits for the complete answer gets all of them.
    const rest = stream ? (text === '' ? outputText(data['outputs']) : undefined) : outputText(data['outputs']) || text
    return { ...finish(json, rest === undefined ? {} : { content: rest }), ...workflowUsage(data, read) }
  }

  return (json) => {
    const data = recordOf(json['data']) ?? {}
    switch (json['event']) {
      case 'message':
      case 'agent_message':
        return delta(json, { content: json['answer'] })
      case 'text_chunk':
        text += textOf(data['text']) ?? ''
        return stream ? delta(json, { content: data['text'] }) : undefined
      case 'message_replace':
        // What was sent cannot be taken back: the application's own words for it end the answer as one that was withheld.
        return {
          ...delta(json, {}),
          choices: [{ index: 0, delta: { refusal: json['answer'] }, finish_reason: 'content_filter' }],
        }
      case 'agent_thought':
        return textOf(json['thought']) ? delta(json, { reasoning_content: json['thought'] }) : undefined
      case 'message_end': {
        const usage = usageOf(json['metadata'])
        return { ...finish(json), ...(usage ? { usage } : {}) }
      }
      case 'workflow_started':
        return stepOf(json, 'Workflow')
      case 'node_finished':
        read += readBy(data)
        return stepOf(json, nodeName(data))
      case 'node_started':
        return stepOf(json, nodeName(data))
      case 'workflow_finished':
        return workflowEnd(json, data)
      case 'error':
        return json
      default:
        return undefined
    }
  }
}

/** Files belong to the user who sent them, so the call names the same one. */
const uploads: Uploads = {
  request: ({ form }, { channel }) => ({
    method: 'POST',
    url: joinPath(channel.baseUrl, '/v1', '/files/upload'),
    headers: bearer(channel.key),
    body: form,
  }),
  read: (json) => wordOf(recordOf(json)?.['id']),
}

const readingOf = (call: ProviderCall) =>
  reshapedReading(style, { answer: completeAnswer, chunk: createChunkReader(call) })

export const dify: Provider = {
  id: style.id,
  label: style.label,
  channelTypes: style.channelTypes,
  framing: 'sse',
  chat: {
    request: toRequest,
    response: (json, call) => readingOf(call).response(json, call),
    stream: (call) => readingOf(call).stream(call),
    media: 'as-given',
    uploads,
  },
  native: {},
  error: readFailure,
  models: {
    // An application is its own model; what is listed are its settings, of which none is one.
    request: (channel) => ({
      method: 'GET',
      url: joinPath(channel.baseUrl, '/v1', '/parameters'),
      headers: bearer(channel.key),
    }),
    read: (json) => recordsOf(recordOf(json)?.['data']).flatMap((row) => wordOf(row['id']) ?? []),
  },
}
