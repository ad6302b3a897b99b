import { sum, type Answer, type Usage } from '../answer.ts'
import { checkFields } from '../fields.ts'
import {
  asObject,
  asObjects,
  asText,
  describeAddress,
  refuse,
  type Failure,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent, type Vendor } from '../types.ts'

const codes: Record<number, string> = { 400: 'invalid_param', 401: 'unauthorized', 404: 'not_found', 429: 'rate_limit' }

const codeOf = ({ status, type }: Failure) => type ?? codes[status] ?? 'internal_server_error'

export const dify: Vendor = {
  id: 'dify',
  keyOf: ({ headers }) => /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1],
  missingKey: { status: 401, message: 'Authorization header must be provided and start with "Bearer"' },
  badKey: { status: 401, message: 'Access token is invalid' },
  error: (failure) => ({ body: { code: codeOf(failure), message: failure.message, status: failure.status } }),
  streamError: (failure) => ({
    data: JSON.stringify({ event: 'error', status: failure.status, code: codeOf(failure), message: failure.message }),
  }),
}

const known = ['inputs', 'query', 'response_mode', 'conversation_id', 'user', 'files', 'auto_generate_name']

/** A conversation comes as one script; what the user said last is behind its last label. */
const spoken = (query: string) =>
  /(?:^|\n)USER: \n/.test(query)
    ? ((query.split(/(?:^|\n)USER: \n/).at(-1) ?? '').split(/\n(?:ASSISTANT|SYSTEM|TOOL): \n/)[0]?.trim() ?? '')
    : query

const kindOf = (file: Json) => (file['type'] === 'image' ? 'Image' : 'File')

/** A file by its address, or one that the same user has sent ahead. */
function fileOf(file: Json, { body, stored }: Call): string {
  if (file['transfer_method'] === 'remote_url') return describeAddress(kindOf(file), asText(file['url']))
  const known = stored.get(asText(file['upload_file_id']))
  if (file['transfer_method'] !== 'local_file' || known?.['user'] !== body['user']) refuse('Invalid upload file')
  const { type, bytes, fingerprint } = asObject(known?.['file'])
  return `${kindOf(file)} ${String(type)} ${String(bytes)} bytes sha256 ${String(fingerprint)}.`
}

const read = (call: Call): Prompt => {
  checkFields(call.body, known)
  return promptOf(call, asText(call.body['query']))
}

/** A workflow is asked by its own inputs. */
function readInputs(call: Call): Prompt {
  checkFields(call.body, ['inputs', 'response_mode', 'user', 'files'])
  return promptOf(call, asText(asObject(call.body['inputs'])['query']))
}

function promptOf(call: Call, query: string): Prompt {
  const { body } = call
  if (query === '') refuse('query is required')
  if (typeof body['inputs'] !== 'object' || body['inputs'] === null) refuse('inputs is required in input form')
  if (asText(body['user']) === '') refuse('user is required')
  const mode = body['response_mode']
  if (mode !== 'blocking' && mode !== 'streaming') refuse('response_mode must be blocking or streaming')
  const files = asObjects(body['files']).map((file) => fileOf(file, call))
  return {
    model: 'the application',
    stream: mode === 'streaming',
    text: spoken(query),
    system: /^SYSTEM: \n(.*?)\n(?:USER|ASSISTANT): \n/s.exec(query)?.[1] ?? '',
    media: files,
    tools: [],
    toolChoice: { mode: 'none' },
    toolResults: [],
    thinking: false,
    json: undefined,
    maxTokens: undefined,
    stop: [],
    choices: 1,
    characters: query.length,
  }
}

const metadata = (usage: Usage | undefined): Json => ({
  retriever_resources: [],
  ...(usage
    ? {
        usage: {
          prompt_tokens: usage.prompt,
          completion_tokens: usage.completion,
          total_tokens: sum(usage.prompt, usage.completion),
          total_price: '0',
          currency: 'USD',
          latency: 0.1,
        },
      }
    : {}),
})

const frame = (call: Call) => {
  const id = call.nextId('message-')
  const conversation = call.nextId('conversation-')
  return { task_id: call.nextId('task-'), id, message_id: id, conversation_id: conversation, created_at: call.now }
}

function events(answer: Answer, call: Call): StreamEvent[] {
  const shared = frame(call)
  const emit = (event: string, fields: Json): StreamEvent => ({ data: JSON.stringify({ event, ...shared, ...fields }) })
  return [
    emit('workflow_started', { data: { id: 'workflow' } }),
    { data: JSON.stringify({ event: 'ping' }) },
    ...answer.reasoning.map((thought) => emit('agent_thought', { thought, tool: '', observation: '' })),
    ...answer.text.map((text) => emit('message', { answer: text })),
    emit('workflow_finished', { data: { status: 'succeeded', outputs: { answer: answer.text.join('') } } }),
    emit('message_end', { metadata: metadata(answer.usage) }),
  ]
}

/** What a run comes to: its total alone, while each of its nodes says what was read and written. */
function runOf(answer: Answer): { node: Json; run: Json } {
  const text = answer.text.join('')
  const { usage } = asObject(metadata(answer.usage))
  const total = answer.usage ? sum(answer.usage.prompt, answer.usage.completion) : 0
  return {
    node: { title: 'LLM', node_type: 'llm', status: 'succeeded', outputs: { text, usage } },
    run: { status: 'succeeded', outputs: { text }, total_tokens: total },
  }
}

function runEvents(answer: Answer, call: Call): StreamEvent[] {
  const shared = { task_id: call.nextId('task-'), workflow_run_id: call.nextId('run-') }
  const emit = (event: string, data: Json): StreamEvent => ({ data: JSON.stringify({ event, ...shared, data }) })
  const { node, run } = runOf(answer)
  return [
    emit('workflow_started', { id: shared.workflow_run_id }),
    emit('node_started', { title: 'LLM', node_type: 'llm' }),
    ...answer.text.map((text) => emit('text_chunk', { text })),
    emit('node_finished', node),
    emit('workflow_finished', run),
  ]
}

/** One run of a workflow. */
export const workflowRun: ChatOperation = {
  type: 'chat',
  read: readInputs,
  write: (prompt, answer, call) =>
    prompt.stream
      ? { type: 'stream', events: runEvents(answer, call) }
      : json({ task_id: call.nextId('task-'), workflow_run_id: call.nextId('run-'), data: runOf(answer).run }),
}

/** One question to an application. */
export const chatMessages: ChatOperation = {
  type: 'chat',
  read,
  write: (prompt, answer, call) =>
    prompt.stream
      ? { type: 'stream', events: events(answer, call) }
      : json({
          event: 'message',
          ...frame(call),
          mode: 'chat',
          answer: answer.text.join(''),
          metadata: metadata(answer.usage),
        }),
}
