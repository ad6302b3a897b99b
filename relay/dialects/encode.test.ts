import { describe, expect, it } from 'vitest'
import type { ChatEvent, ChatResponse, FinishReason } from '#relay/chat/events.ts'
import { dialectOf } from './registry.ts'
import { streamText, testContext } from './testing/stream-text.ts'

const answer: ChatResponse = {
  id: 'msg_1',
  model: 'upstream-model',
  choices: [
    {
      parts: [
        { type: 'reasoning', text: 'hm', signature: { dialect: 'claude', value: 'sig' } },
        { type: 'text', text: 'see', citations: [{ url: 'https://a.test', title: 'A', startIndex: 0, endIndex: 3 }] },
        { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"x":1}', signature: { dialect: 'gemini', value: 'gs' } },
        { type: 'tool-call', id: 'c2', name: 'g', arguments: '' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage: {
    promptTokens: 100,
    cachedTokens: 30,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 5,
    completionTokens: 50,
    reasoningTokens: 10,
    audioOutputTokens: null,
  },
}

describe('calls whose arguments were cut off', () => {
  const cut = (finish: FinishReason, kind?: 'custom'): ChatResponse => ({
    ...answer,
    choices: [
      {
        parts: [
          { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"x":1}' },
          { type: 'tool-call', id: 'c2', name: 'g', arguments: '{"x":', ...(kind ? { kind } : {}) },
        ],
        finish,
      },
    ],
  })

  it('are incomplete in a response', () => {
    for (const kind of [undefined, 'custom'] as const) {
      expect(dialectOf('openai-responses').encode(cut('length', kind), testContext())).toMatchObject({
        status: 'incomplete',
        output: [{ status: 'completed' }, { status: 'incomplete' }],
      })
    }
  })

  it('are left out of a generateContent response, streamed or not, which says what became of them', () => {
    for (const [finish, finishReason] of [
      ['length', 'MAX_TOKENS'],
      ['tool-calls', 'MALFORMED_FUNCTION_CALL'],
    ] as const) {
      const parts = [{ functionCall: { id: 'c1', name: 'f', args: { x: 1 } } }]
      expect(dialectOf('gemini').encode(cut(finish), testContext())).toMatchObject({
        candidates: [{ content: { parts }, finishReason }],
      })
      const { complete } = streamText(dialectOf('gemini').stream(testContext()), [
        { type: 'tool-call-start', index: 0, id: 'c2', name: 'g' },
        { type: 'tool-call-delta', index: 0, arguments: '{"x":' },
        { type: 'tool-call-end', index: 0 },
        { type: 'finish', reason: finish },
      ])
      expect(complete).not.toContain('functionCall')
      expect(complete).toContain(`"finishReason":"${finishReason}"`)
    }
  })
})

describe('complete answers', () => {
  it('as a chat completion', () => {
    expect(dialectOf('openai-chat').encode(answer, testContext())).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1795168800,
      model: 'asked-model',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'see',
            refusal: null,
            reasoning_content: 'hm',
            reasoning_details: [
              { type: 'reasoning.text', text: 'hm', signature: 'sig', format: 'anthropic-claude-v1', index: 0 },
            ],
            annotations: [
              {
                type: 'url_citation',
                url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 3 },
              },
            ],
            tool_calls: [
              {
                id: 'c1',
                type: 'function',
                function: { name: 'f', arguments: '{"x":1}' },
                extra_content: { google: { thought_signature: 'gs' } },
              },
              { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: {
          cached_tokens: 30,
          cache_write_tokens: 20,
          text_tokens: 100,
          audio_tokens: 0,
          image_tokens: 0,
        },
        completion_tokens_details: { text_tokens: 40, audio_tokens: 0, reasoning_tokens: 10 },
      },
    })
  })

  it('as a message', () => {
    expect(dialectOf('claude').encode(answer, testContext())).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'asked-model',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        {
          type: 'text',
          text: 'see',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://a.test',
              title: 'A',
              cited_text: '',
              encrypted_index: '',
            },
          ],
        },
        { type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'c2', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 50,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 10 },
      },
    })
  })

  it('as a generateContent response', () => {
    expect(dialectOf('gemini').encode(answer, testContext({ includeThoughts: true }))).toEqual({
      candidates: [
        {
          index: 0,
          finishReason: 'STOP',
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { text: 'see' },
              { functionCall: { id: 'c1', name: 'f', args: { x: 1 } }, thoughtSignature: 'gs' },
              { functionCall: { id: 'c2', name: 'g', args: {} } },
            ],
          },
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
            groundingSupports: [
              { segment: { partIndex: 1, startIndex: 0, endIndex: 3, text: 'see' }, groundingChunkIndices: [0] },
            ],
          },
        },
      ],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 40,
        thoughtsTokenCount: 10,
        cachedContentTokenCount: 30,
        totalTokenCount: 150,
      },
      modelVersion: 'asked-model',
      responseId: 'msg_1',
    })
  })

  it('as a response object', () => {
    const annotations = [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 3 }]
    expect(dialectOf('openai-responses').encode(answer, testContext())).toMatchObject({
      id: 'resp_1',
      object: 'response',
      created_at: 1795168800,
      completed_at: 1795168800,
      status: 'completed',
      model: 'asked-model',
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      text: { format: { type: 'text' } },
      truncation: 'disabled',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], status: 'completed' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'see', annotations, logprobs: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"x":1}', status: 'completed' },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{}', status: 'completed' },
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 10 },
        total_tokens: 150,
      },
    })
  })

  it('as a text completion', () => {
    expect(dialectOf('openai-completions').encode(answer, testContext())).toMatchObject({
      id: 'cmpl-1',
      object: 'text_completion',
      choices: [{ text: 'see', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { total_tokens: 150 },
    })
  })

  it('never has an empty message: nothing said is one empty text', () => {
    const silent: ChatResponse = { id: '', model: '', choices: [{ parts: [], finish: 'length' }] }
    expect(dialectOf('claude').encode(silent, testContext())).toMatchObject({
      id: `msg_${'x'.repeat(24)}`,
      content: [{ type: 'text', text: '' }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 0, output_tokens: 0 },
    })
  })

  it('shows refusals, images and audio in the words each dialect has for them', () => {
    const shown: ChatResponse = {
      id: 'a',
      model: 'm',
      choices: [
        {
          parts: [
            { type: 'refusal', text: 'no' },
            { type: 'image', mediaType: 'image/png', data: 'AAAA' },
            { type: 'audio', data: 'BBBB', format: 'wav', transcript: 'spoken' },
          ],
          finish: 'content-filter',
        },
      ],
    }
    const image = '![image](data:image/png;base64,AAAA)'
    expect(dialectOf('openai-chat').encode(shown, testContext())).toMatchObject({
      choices: [
        {
          message: { content: image, refusal: 'no', audio: { data: 'BBBB', transcript: 'spoken' } },
          finish_reason: 'content_filter',
        },
      ],
    })
    expect(dialectOf('claude').encode(shown, testContext())).toMatchObject({
      content: [{ text: 'no' }, { text: image }, { text: 'spoken' }],
      stop_reason: 'refusal',
    })
    expect(dialectOf('gemini').encode(shown, testContext())).toMatchObject({
      candidates: [
        {
          content: {
            parts: [
              { text: 'no' },
              { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
              { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
            ],
          },
          finishReason: 'SAFETY',
        },
      ],
    })
  })
})

it('calls that an upstream writes at once stay apart in an interaction, and sources stand at bytes of their text', () => {
  const stream = dialectOf('gemini-interactions').stream(testContext())
  const start = { type: 'tool-call-start', name: 'f' } as const
  for (const event of [
    { ...start, index: 0, id: 'a' },
    { ...start, index: 1, id: 'b' },
    { type: 'tool-call-delta', index: 0, arguments: '{"x":' },
    { type: 'tool-call-delta', index: 1, arguments: '{"y":' },
    { type: 'text-delta', text: 'so so' },
    { type: 'reasoning-delta', text: 'hm' },
    { type: 'text-delta', text: '鸟 sings' },
    { type: 'citation', citation: { url: 'https://a.test', startIndex: 7, endIndex: 12 } },
    { type: 'tool-call-delta', index: 0, arguments: '1}' },
    { type: 'tool-call-delta', index: 1, arguments: '2}' },
  ] satisfies ChatEvent[])
    stream.push(event)
  const [, data = ''] = /interaction\.completed\ndata: (.*)/.exec(stream.close()) ?? []
  const { interaction } = JSON.parse(data) as { interaction: { steps: unknown } }
  expect(interaction.steps).toEqual([
    { type: 'function_call', id: 'a', name: 'f', arguments: { x: 1 } },
    { type: 'function_call', id: 'b', name: 'f', arguments: { y: 2 } },
    { type: 'model_output', content: [{ type: 'text', text: 'so so' }] },
    { type: 'thought', summary: [{ type: 'text', text: 'hm' }] },
    {
      type: 'model_output',
      content: [
        {
          type: 'text',
          text: '鸟 sings',
          annotations: [{ type: 'url_citation', url: 'https://a.test', title: '', start_index: 4, end_index: 9 }],
        },
      ],
    },
  ])
})
