import { expect, test } from 'vitest'
import { formatConversations, parseConversations } from './stored-conversations.ts'
import type { Reply } from './reply.ts'

const reply: Reply = {
  id: 2,
  role: 'assistant',
  status: 'incomplete',
  model: 'gpt-4o',
  content: 'Half of',
  thinking: '',
  toolCalls: [],
  stopped: false,
  finishReason: '',
  requestId: 'r1',
  startedAt: 10,
  firstAt: 20,
  request: { model: 'gpt-4o', group: '', messages: [], stream: true, stream_options: { include_usage: true } },
  events: ['{"choices":[]}'],
}

test('a conversation comes back as it was, without raw events; a reply that was still coming ends where it was', () => {
  const failed: Reply = { ...reply, id: 3, status: 'error', error: new Error('no channel') }
  const hi = { role: 'user' as const, content: 'Hi' }
  const request = { ...reply.request, messages: [hi] }
  const conversations = parseConversations(
    formatConversations({ userId: 7, left: [{ id: 1, role: 'user', content: 'Hi' }, reply, failed], right: [] }),
  )
  expect(conversations).toMatchObject({ userId: 7, right: [] })
  expect(conversations.left).toEqual([
    { id: 1, role: 'user', content: 'Hi' },
    { ...reply, request, events: [], status: 'complete', stopped: true },
    { ...failed, request, events: [] },
  ])
})

test('of a long conversation the newest turns are kept, and what an older console stored is no trouble', () => {
  const left = Array.from({ length: 100 }, (_, index) => ({ id: index, role: 'user' as const, content: `${index}` }))
  expect(parseConversations(formatConversations({ userId: 1, left, right: [] })).left.map(({ id }) => id)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 40),
  )
  expect(parseConversations('{}')).toEqual({ userId: 0, left: [], right: [] })
})

test('of the images the newest are kept, as many as there is room for', () => {
  const turn = (id: number) => ({ id, role: 'user' as const, content: '', images: ['x'.repeat(600_000)] })
  const { left } = parseConversations(formatConversations({ userId: 1, left: [1, 2, 3].map(turn), right: [] }))
  expect(left.map((message) => (message.role === 'user' ? message.images?.length : undefined))).toEqual([0, 1, 1])
})
