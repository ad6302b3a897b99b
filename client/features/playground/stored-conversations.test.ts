import { describe, expect, test } from 'vitest'
import {
  conversationName,
  conversationsOf,
  conversationText,
  findConversations,
  formatConversations,
  fromEarlier,
  isChangedElsewhere,
  keepMessages,
  mostConversations,
  parseConversations,
  removeConversation,
  storedMessages,
  type StoredConversation,
  withinLimits,
} from './stored-conversations.ts'
import type { Message, Reply } from './reply.ts'

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
const turn = (id: number, content: string, images?: string[]): Message => ({
  id,
  role: 'user',
  content,
  ...(images && { images }),
})
const conversation = (patch: Partial<StoredConversation>): StoredConversation => ({
  id: 'a',
  name: '',
  changedAt: 1,
  model: 'gpt-4o',
  beside: '',
  left: [],
  right: [],
  ...patch,
})
const reloaded = (one: StoredConversation): StoredConversation | undefined =>
  parseConversations(formatConversations([one]))[0]

test('a conversation comes back as it was, without raw events; a reply that was still coming ends where it was', () => {
  const failed: Reply = { ...reply, id: 3, status: 'error', error: new Error('no channel') }
  const request = { ...reply.request, messages: [{ role: 'user' as const, content: 'Hi' }] }
  const back = reloaded(conversation({ name: 'First', left: [turn(1, 'Hi'), reply, failed] }))
  expect(back).toMatchObject({ id: 'a', name: 'First', changedAt: 1, model: 'gpt-4o', right: [] })
  expect(back?.left).toEqual([
    turn(1, 'Hi'),
    { ...reply, request, events: [], status: 'complete', stopped: true },
    { ...failed, request, events: [] },
  ])
})

test('of a long conversation the newest turns and images stay', () => {
  const turns = Array.from({ length: 100 }, (_, index) => turn(index, `${index}`))
  expect(reloaded(conversation({ left: turns }))?.left.map(({ id }) => id)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 40),
  )
  // A result whose call is gone would have the next call refused.
  const calling: Reply = {
    ...reply,
    status: 'complete',
    toolCalls: [{ id: 'c', name: 'get_weather', arguments: '{}' }],
  }
  const result: Message = { id: 3, role: 'tool', callId: 'c', name: 'get_weather', content: '21' }
  const round = [turn(1, 'Weather?'), calling, result, { ...calling, id: 4, toolCalls: [] }]
  const shortened = reloaded(
    conversation({
      left: Array.from({ length: 17 }, () => round)
        .flat()
        .slice(0, -2),
    }),
  )?.left
  expect([shortened?.length, shortened?.[0]?.role]).toEqual([58, 'user'])
  const image = `data:${'x'.repeat(600_000)}`
  const shown = reloaded(conversation({ left: [turn(1, 'old', [image]), turn(2, 'new', [image])] }))
  expect(shown?.left.map((message) => (message.role === 'user' ? message.images?.length : 0))).toEqual([0, 1])
})

test('of many conversations the newest stay, and older ones lose their images before they go', () => {
  const many = Array.from({ length: 80 }, (_, index) => conversation({ id: `c${index}`, changedAt: index }))
  const left = withinLimits(many)
  expect([left.length, left[0]?.id]).toEqual([mostConversations, 'c79'])
  const heavy = (id: string, changedAt: number) =>
    conversation({ id, changedAt, left: [turn(1, 'look', [`data:${'x'.repeat(900_000)}`])] })
  const fitting = withinLimits([heavy('old', 1), heavy('newer', 2), heavy('newest', 3)])
  expect(fitting.map(({ id, left: [first] }) => [id, first?.role === 'user' && first.images?.length])).toEqual([
    ['newest', 1],
    ['newer', 1],
    ['old', 0],
  ])
  const wordy = (id: string, changedAt: number) =>
    conversation({ id, changedAt, left: [turn(1, 'w'.repeat(1_500_000))] })
  expect(withinLimits([wordy('old', 1), wordy('new', 2)]).map(({ id }) => id)).toEqual(['new'])
  expect(formatConversations(withinLimits([heavy('a', 1), wordy('b', 2)])).length).toBeLessThan(2_600_000)
})

test('the one conversation of an older console goes on, for its own reader alone', () => {
  const earlier = { userId: 7, left: [turn(1, 'Hi'), reply], right: [] }
  expect(fromEarlier(earlier, 7)).toMatchObject([{ model: 'gpt-4o', left: [{ content: 'Hi' }, { stopped: true }] }])
  expect(fromEarlier(earlier, 8)).toEqual([])
  expect(fromEarlier(null, 7)).toEqual([])
})

test('a conversation is called by its first words until it has a name, and found by either', () => {
  const one = conversation({ left: [turn(1, '  What is\nthe  weather? '), reply] })
  const other = conversation({ id: 'b', name: 'Trip to Rome', left: [turn(1, 'Plan it')] })
  expect([conversationName(one), conversationName(other)]).toEqual(['What is the weather?', 'Trip to Rome'])
  const ids = (keyword: string) => findConversations([one, other], keyword).map(({ id }) => id)
  expect([ids('rome'), ids('half OF'), ids('plan'), ids(' '), ids('nothing')]).toEqual([
    ['b'],
    ['a'],
    ['b'],
    ['a', 'b'],
    [],
  ])
})

test('it leaves as text with every turn, its images by number and its calls', () => {
  const calling = { ...reply, toolCalls: [{ id: 'c', name: 'get_weather', arguments: '{}' }] }
  const text = conversationText(conversation({ name: 'N', left: [turn(1, 'Hi', ['data:x']), calling] }))
  expect(text).toBe('# N\n\n## User\n\n[image 1]\n\nHi\n\n## gpt-4o\n\nHalf of\n\n```json\nget_weather({})\n```\n')
})

describe('in several tabs', () => {
  const place = { id: 'a', side: 'left', model: 'gpt-4o' } as const
  const stored = conversationsOf(7)
  const here = [turn(1, 'Hi')]
  /** As the storage event brings it. */
  const elsewhere = (...messages: Message[]) =>
    stored.set(messages.length > 0 ? [conversation({ left: messages })] : [])

  test('what nothing was added to here is neither written over what another tab added nor brought back', () => {
    keepMessages(7, { ...place, messages: here })
    elsewhere(turn(1, 'Hi'), turn(2, 'Again'))
    keepMessages(7, { ...place, messages: here })
    expect(stored.get()).toMatchObject([{ left: [{ content: 'Hi' }, { content: 'Again' }] }])
    elsewhere()
    keepMessages(7, { ...place, messages: here })
    expect(stored.get()).toEqual([])
  })

  test('what another tab added is noticed, what only looks different is not', () => {
    elsewhere(turn(1, 'Hi'))
    expect(isChangedElsewhere(7, { ...place, messages: here })).toBe(false)
    expect(isChangedElsewhere(7, { ...place, messages: [turn(1, 'Hi'), { ...reply, events: [] }] })).toBe(true)
    elsewhere(turn(1, 'Hi'), { ...reply, status: 'complete', stopped: true, events: [] })
    expect(isChangedElsewhere(7, { ...place, messages: [turn(1, 'Hi'), reply] })).toBe(false)
  })

  test('what two tabs were answered at once both stays: that of the later one in a conversation of its own', () => {
    elsewhere(turn(1, 'Hi'))
    const read = storedMessages(7, 'a', 'left')
    elsewhere(turn(1, 'Hi'), turn(2, 'There'))
    const answered: Message[] = [...read, turn(3, 'Here'), reply]
    keepMessages(7, { ...place, messages: answered })
    const texts = () => stored.get().map(({ id, left }) => [id === 'a', left.map(({ content }) => content)])
    expect(texts()).toEqual([
      [false, ['Hi', 'Here', 'Half of']],
      [true, ['Hi', 'There']],
    ])
    expect(isChangedElsewhere(7, { ...place, messages: answered })).toBe(false)
    keepMessages(7, { ...place, messages: [...answered, turn(5, 'More')] })
    expect(texts()).toMatchObject([
      [false, ['Hi', 'Here', 'Half of', 'More']],
      [true, {}],
    ])
    expect(storedMessages(7, 'a', 'left')).toMatchObject([{ content: 'Hi' }, { content: 'There' }])
  })

  test('a reply that was still coming does not bring back what was removed here; opened anew its place can be used', () => {
    elsewhere(turn(1, 'Hi'))
    removeConversation(7, 'a')
    keepMessages(7, { ...place, messages: [turn(1, 'Hi'), reply] })
    expect(stored.get()).toEqual([])
    expect(storedMessages(7, 'a', 'left')).toEqual([])
    keepMessages(7, { ...place, messages: [turn(3, 'Anew')] })
    expect(stored.get()).toMatchObject([{ id: 'a', left: [{ content: 'Anew' }] }])
  })
})
