import { sum, type Answer, type Usage } from '../answer.ts'
import { asObjects, asTexts, Refusal, type Json, type Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation, type PlainOperation, type StreamEvent } from '../types.ts'
import { encryptedOf, inputItems, readResponses, toolsOf } from './responses-read.ts'

const usageBody = (usage: Usage) => ({
  input_tokens: usage.prompt,
  input_tokens_details: {
    cached_tokens: usage.cached,
    ...(usage.cacheWrite === 0 ? {} : { cache_write_tokens: usage.cacheWrite }),
  },
  output_tokens: usage.completion,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: sum(usage.prompt, usage.completion),
})

const asksForProof = ({ body }: Call): boolean => asTexts(body['include']).includes('reasoning.encrypted_content')

/** A tool of a namespace is called by its own name, beside that of the namespace. */
function namespaceOf(name: string, { body }: Call): Json {
  const holds = (tool: Json) => asObjects(tool['tools']).some((inner) => inner['name'] === name)
  const found = toolsOf(body).find((tool) => tool['type'] === 'namespace' && holds(tool))
  return found ? { namespace: found['name'] } : {}
}

function outputOf(answer: Answer, call: Call): Json[] {
  const items: Json[] = []
  if (answer.reasoning.length > 0)
    items.push({
      type: 'reasoning',
      id: call.nextId('rs_'),
      ...(asksForProof(call) ? { encrypted_content: encryptedOf(call, answer.reasoning.join('')) } : {}),
      summary: [{ type: 'summary_text', text: answer.reasoning.join('') }],
      status: 'completed',
    })
  if (answer.toolCalls.length === 0)
    items.push({
      type: 'message',
      id: call.nextId('msg_'),
      role: 'assistant',
      status: answer.finish === 'stop' ? 'completed' : 'incomplete',
      content: [{ type: 'output_text', text: answer.text.join(''), annotations: [], logprobs: [] }],
    })
  for (const each of answer.toolCalls)
    items.push({
      type: 'function_call',
      id: call.nextId('fc_'),
      call_id: call.nextId('call_'),
      name: each.name,
      ...namespaceOf(each.name, call),
      arguments: each.arguments,
      status: 'completed',
    })
  return items
}

const incompleteReason: Partial<Record<Answer['finish'], string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
}

function shell(prompt: Prompt, { body, now, nextId }: Call): Json {
  return {
    id: nextId('resp_'),
    object: 'response',
    created_at: now,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: prompt.model,
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: body['reasoning'] ?? { effort: null, summary: null },
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: null,
    user: null,
    metadata: body['metadata'] ?? {},
  }
}

function completed(started: Json, answer: Answer, call: Call): Json {
  const reason = incompleteReason[answer.finish]
  return {
    ...started,
    status: reason ? 'incomplete' : 'completed',
    completed_at: reason ? null : call.now,
    incomplete_details: reason ? { reason } : null,
    output: outputOf(answer, call),
    usage: answer.usage ? usageBody(answer.usage) : null,
  }
}

type Emit = (type: string, fields: Json) => void
type Placed = { item: Json; output_index: number }

function emitReasoning({ item, output_index }: Placed, answer: Answer, emit: Emit): void {
  const at = { item_id: item['id'], output_index, summary_index: 0 }
  const text = answer.reasoning.join('')
  emit('response.output_item.added', { output_index, item: { ...item, summary: [], status: 'in_progress' } })
  emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
  for (const delta of answer.reasoning) emit('response.reasoning_summary_text.delta', { ...at, delta })
  emit('response.reasoning_summary_text.done', { ...at, text })
  emit('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } })
  emit('response.output_item.done', { output_index, item })
}

function emitMessage({ item, output_index }: Placed, answer: Answer, emit: Emit): void {
  const at = { item_id: item['id'], output_index, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const text = answer.text.join('')
  emit('response.output_item.added', { output_index, item: { ...item, content: [], status: 'in_progress' } })
  emit('response.content_part.added', { ...at, part })
  for (const delta of answer.text) emit('response.output_text.delta', { ...at, delta, logprobs: [] })
  emit('response.output_text.done', { ...at, text, logprobs: [] })
  emit('response.content_part.done', { ...at, part: { ...part, text } })
  emit('response.output_item.done', { output_index, item })
}

function emitCall({ item, output_index }: Placed, emit: Emit): void {
  const at = { item_id: item['id'], output_index }
  const text = String(item['arguments'])
  const middle = Math.ceil(text.length / 2)
  emit('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } })
  for (const delta of [text.slice(0, middle), text.slice(middle)].filter(Boolean))
    emit('response.function_call_arguments.delta', { ...at, delta })
  emit('response.function_call_arguments.done', { ...at, name: item['name'], arguments: text })
  emit('response.output_item.done', { output_index, item })
}

function events(started: Json, final: Json, answer: Answer): StreamEvent[] {
  const list: StreamEvent[] = []
  const emit: Emit = (type, fields) =>
    list.push({ event: type, data: JSON.stringify({ type, sequence_number: list.length, ...fields }) })
  emit('response.created', { response: started })
  emit('response.in_progress', { response: started })
  for (const [index, item] of (final['output'] as Json[]).entries()) {
    const placed = { item, output_index: index }
    if (item['type'] === 'reasoning') emitReasoning(placed, answer, emit)
    else if (item['type'] === 'message') emitMessage(placed, answer, emit)
    else emitCall(placed, emit)
  }
  emit(final['status'] === 'completed' ? 'response.completed' : 'response.incomplete', { response: final })
  return list
}

/** The store is bounded: the oldest answer goes first. */
function keep(call: Call, response: Json): void {
  if (call.body['store'] === false) return
  if (call.stored.size >= 1000) call.stored.delete(call.stored.keys().next().value ?? '')
  call.stored.set(String(response['id']), { response, input: inputItems(call.body) })
}

export const responses: ChatOperation = {
  type: 'chat',
  read: readResponses,
  write: (prompt, answer, call) => {
    const started = shell(prompt, call)
    const final = completed(started, answer, call)
    keep(call, final)
    return prompt.stream ? { type: 'stream', events: events(started, final, answer) } : json(final)
  },
}

/** GET, DELETE, cancel and input_items of a stored answer. */
export const storedResponse: PlainOperation = {
  type: 'plain',
  reply: ({ path, method, stored }) => {
    const [, id = '', action] = /\/responses\/([^/]+)(?:\/(.+))?$/.exec(path) ?? []
    const entry = stored.get(id)
    if (!entry) throw new Refusal({ status: 404, message: `Response with id '${id}' not found.`, code: null })
    if (method === 'DELETE') {
      stored.delete(id)
      return json({ id, object: 'response', deleted: true })
    }
    if (action === 'input_items') return json({ object: 'list', data: entry['input'], has_more: false })
    return json(entry['response'])
  },
}

/** A conversation made shorter, which only its account can read. */
export const compactResponse: ChatOperation = {
  type: 'chat',
  read: readResponses,
  write: (_prompt, answer, call) =>
    json({
      id: call.nextId('resp_'),
      object: 'response.compaction',
      created_at: call.now,
      output: [
        ...inputItems(call.body).flatMap((item) => (item['role'] === 'user' ? [{ type: 'message', ...item }] : [])),
        { type: 'compaction', id: call.nextId('cmp_'), encrypted_content: encryptedOf(call, answer.text.join('')) },
      ],
      usage: answer.usage ? usageBody(answer.usage) : null,
    }),
}

/** How many tokens a prompt has. */
export const countInputTokens: ChatOperation = {
  type: 'chat',
  read: readResponses,
  write: (_prompt, answer) => json({ object: 'response.input_tokens', input_tokens: answer.usage?.prompt ?? 0 }),
}
