import { describe, expect, it } from 'vitest'
import type { ChatEvent, ChatResponse } from '#relay/chat/events.ts'
import { readCompaction } from '#relay/chat/seals/compaction.ts'
import { framesOf, streamText, testContext } from '../testing/stream-text.ts'
import { openAiResponses } from './index.ts'

const sentBody = {
  model: 'm',
  stream: true,
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  tool_choice: 'auto',
  text: { format: { type: 'json_object' } },
  input: [
    { type: 'message', role: 'user', content: 'the bird is a plover' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'noted' }] },
    { type: 'compaction_trigger' },
  ],
}
const context = { ...testContext(), sentBody }

describe('a responses call that ends in a compaction trigger', () => {
  it('asks for a summary, streamed as it came, without tools or a format', () => {
    const request = openAiResponses.parse(sentBody, {})
    expect(request).toMatchObject({ stream: true, toolChoice: { type: 'none' }, losses: [] })
    expect(request.responseFormat).toBeUndefined()
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(request.messages.at(-1)?.content).toMatchObject([{ text: expect.stringContaining('Summarise') }])
  })

  it('goes on as it came where the conversation is the vendor’s alone', () => {
    const lone = { ...sentBody, previous_response_id: 'resp_1', input: [{ type: 'compaction_trigger' }] }
    expect(openAiResponses.parse(lone, {}).messages).toMatchObject([{ content: [{ type: 'vendor' }] }])
  })

  const answer: ChatResponse = {
    id: 'a',
    model: 'm',
    choices: [
      {
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'A plover.' },
        ],
        finish: 'stop',
      },
    ],
  }
  type Item = { type: string; encrypted_content: string }

  it('is answered by one compaction', () => {
    const { output } = openAiResponses.encode(answer, context) as { output: Item[] }
    expect(output.map(({ type }) => type)).toEqual(['compaction'])
    expect(readCompaction(output[0]?.encrypted_content)).toContain('A plover.')
    const blank = { ...answer, choices: [{ parts: [{ type: 'text' as const, text: ' ' }], finish: 'stop' as const }] }
    expect(() => openAiResponses.encode(blank, context)).toThrow('no summary')
  })

  it('is streamed as one compaction', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'A plo' },
      { type: 'text-delta', text: 'ver.' },
      { type: 'finish', reason: 'stop' },
    ]
    const frames = framesOf(streamText(openAiResponses.stream(context), events).complete)
    expect(frames.map(({ name }) => name)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ])
    expect(frames.map(({ data }) => data['sequence_number'])).toEqual([0, 1, 2, 3, 4])
    const { response } = frames.at(-1)?.data ?? {}
    const [item] = response.output as Item[]
    expect(frames[3]?.data['item']).toEqual(item)
    expect(readCompaction(item?.encrypted_content)).toContain('A plover.')
  })
})
