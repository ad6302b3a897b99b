import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { dify } from './index.ts'

const call = (other = '', stream = false) =>
  callWith({ stream, channel: { type: 37, baseUrl: 'https://api.dify.ai', key: 'app-1', other } })
const decode = (events: object[], stream = true) => {
  const decoder = dify.chat.stream(call('', stream))
  return [...events.flatMap((event) => decoder.push({ data: JSON.stringify(event) })), ...decoder.end()]
}

test('a single question is asked as it is, a conversation as a script', () => {
  expect(dify.chat.request(requestWith({ user: 'u' }), call())).toMatchObject({
    url: 'https://api.dify.ai/v1/chat-messages',
    headers: { authorization: 'Bearer app-1' },
    body: { inputs: {}, query: 'Hi', response_mode: 'blocking', user: 'u', auto_generate_name: false, files: [] },
  })
  const sent = dify.chat.request(toolConversation(), call('', true))
  expect(sent.body).toMatchObject({
    response_mode: 'streaming',
    query: expect.stringContaining(
      'SYSTEM: \nBe brief.\nUSER: \nWeather in Paris and Rome?\nASSISTANT: \nI will look.\n',
    ),
  })
})

test('the kind of application decides the operation', () => {
  expect(dify.chat.request(requestWith(), call('workflow'))).toMatchObject({
    url: 'https://api.dify.ai/v1/workflows/run',
    body: { inputs: { query: 'Hi' } },
  })
  expect(dify.chat.request(requestWith(), call('completion')).url).toBe('https://api.dify.ai/v1/completion-messages')
})

test('images go by address, what an application does not take is named', () => {
  const image = { type: 'image' as const, source: { kind: 'url' as const, url: 'https://e.test/a.png' } }
  const request = requestWith({
    messages: [{ role: 'user', content: [image, { type: 'text', text: 'q' }] }],
    tools: [weatherTool],
    temperature: 1,
  })
  const sent = dify.chat.request(request, call())
  expect(sent.body).toMatchObject({
    query: 'q',
    files: [{ type: 'image', transfer_method: 'remote_url', url: 'https://e.test/a.png' }],
  })
  expect(sent.losses).toEqual(['tools', 'temperature'])
})

test('a workflow answers with its outputs and its total', () => {
  const data = { status: 'succeeded', outputs: { text: 'done' }, total_tokens: 7 }
  expect(dify.chat.response({ workflow_run_id: 'w', data }, call('workflow'))).toMatchObject({
    id: 'w',
    choices: [{ parts: [{ type: 'text', text: 'done' }], finish: 'stop' }],
    usage: { completionTokens: 7 },
  })
  expect(() => dify.chat.response({ data: { status: 'failed', error: 'boom' } }, call('workflow'))).toThrow('boom')
  expect(
    decode([
      { event: 'workflow_started', workflow_run_id: 'w' },
      { event: 'text_chunk', workflow_run_id: 'w', data: { text: 'do' } },
      { event: 'ping' },
      { event: 'workflow_finished', workflow_run_id: 'w', data },
    ]).map((event) => event.type),
  ).toEqual(['start', 'reasoning-delta', 'text-delta', 'finish', 'usage'])
})

test.each([
  ['agent', false, 'streaming'],
  ['', false, 'blocking'],
  ['chatflow', true, 'streaming'],
])(
  'an application of kind "%s", streamed %s, is asked %s: an agent refuses to answer in one piece',
  (other, stream, mode) => {
    const asked = dify.chat.request(requestWith(), { ...call(other), stream })
    expect(asked).toMatchObject({ body: { response_mode: mode } })
  },
)

test('what the nodes of a workflow read is its prompt, the rest its answer, as are outputs that were not streamed', () => {
  const asked = dify.chat.request(requestWith(), call('workflow'))
  expect(asked).toMatchObject({ headers: { accept: 'text/event-stream' }, body: { response_mode: 'streaming' } })
  const usage = { prompt_tokens: 5, completion_tokens: 1 }
  const events = decode([
    { event: 'node_finished', workflow_run_id: 'w', data: { title: 'A', outputs: { text: 'x', usage } } },
    { event: 'node_finished', workflow_run_id: 'w', data: { title: 'B', process_data: { usage } } },
    {
      event: 'workflow_finished',
      workflow_run_id: 'w',
      data: { status: 'succeeded', outputs: { text: 'done' }, total_tokens: 17 },
    },
  ])
  expect(events).toContainEqual({ type: 'text-delta', text: 'done' })
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'usage',
      usage: expect.objectContaining({ promptTokens: 10, completionTokens: 7 }),
    }),
  )
})

test('who waits for the complete answer of a workflow gets all of its outputs, also those that were not streamed', () => {
  const outputs = { summary: 'short', category: 'b' }
  const events = [
    { event: 'text_chunk', workflow_run_id: 'w', data: { text: 'short' } },
    { event: 'text_chunk', workflow_run_id: 'w', data: { text: '' } },
    { event: 'workflow_finished', workflow_run_id: 'w', data: { status: 'succeeded', outputs } },
  ]
  const textOf = (stream: boolean) =>
    decode(events, stream)
      .flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
      .join('')
  expect(textOf(false)).toBe(JSON.stringify(outputs))
  expect(textOf(true)).toBe('short')
})

test('in a chat the end is reported by the chat, not by the workflow inside', () => {
  const types = decode([
    { event: 'message', conversation_id: 'c', answer: 'a' },
    { event: 'workflow_finished', conversation_id: 'c', data: { status: 'succeeded', outputs: {} } },
    { event: 'message_end', conversation_id: 'c', metadata: {} },
  ]).map((event) => event.type)
  expect(types).toEqual(['start', 'text-delta', 'reasoning-delta', 'finish'])
})

test('the steps of an application are returned as its reasoning', () => {
  const texts = decode([
    { event: 'workflow_started', conversation_id: 'c', data: { id: 'w' } },
    { event: 'node_started', conversation_id: 'c', data: { title: 'Look it up', node_type: 'knowledge-retrieval' } },
    { event: 'node_finished', conversation_id: 'c', data: { node_type: 'llm', status: 'succeeded' } },
    { event: 'workflow_finished', conversation_id: 'c', data: { status: 'succeeded', outputs: {} } },
  ]).flatMap((event) => (event.type === 'reasoning-delta' ? event.text : []))
  expect(texts).toEqual(['Workflow …\n', 'Look it up …\n', 'llm: succeeded\n', 'Workflow: succeeded\n'])
})

test('an agent’s reasoning stays reasoning', () => {
  expect(decode([{ event: 'agent_thought', thought: 'hm' }])[1]).toEqual({ type: 'reasoning-delta', text: 'hm' })
})

test('a schema is written in the script, a request to think is named as lost', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const { body, losses } = dify.chat.request(
    requestWith({ responseFormat: { type: 'json-schema', name: 'x', schema }, reasoning: { effort: 'low' } }),
    call(),
  )
  expect(body).toMatchObject({ query: expect.stringMatching(/^SYSTEM: \n.*"city".*\nUSER: \nHi\n$/s) })
  expect(losses).toEqual(['reasoning_effort'])
})

test('an answer that moderation replaces in its course ends as a refusal in the words of the application, with its usage', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  const events = decode([
    { event: 'message', message_id: 'm', answer: 'secret' },
    { event: 'message_replace', message_id: 'm', answer: 'I cannot say that.' },
    { event: 'message_end', message_id: 'm', metadata: { usage } },
  ])
  expect(events).toContainEqual({ type: 'refusal-delta', text: 'I cannot say that.' })
  expect(events.filter(({ type }) => type === 'finish')).toEqual([{ type: 'finish', reason: 'content-filter' }])
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'usage', usage: expect.objectContaining({ promptTokens: 3 }) }),
  )
})
