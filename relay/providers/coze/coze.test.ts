import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { coze } from './index.ts'

test('an answer that quotes the closing mark is delivered whole', () => {
  const decoder = coze.chat.stream(callWith({ channel: { type: 49 } }))
  const say = (content: string) =>
    decoder.push({
      event: 'conversation.message.delta',
      data: JSON.stringify({ type: 'answer', chat_id: 'c', content }),
    })
  const events = [...say('Streams end with data: [DONE], '), ...say('then they close.')]
  expect(events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))).toEqual([
    'Streams end with data: [DONE], ',
    'then they close.',
  ])
  for (const data of ['"[DONE]"', '[DONE]']) expect(decoder.push({ event: 'done', data })).toEqual([])
})
