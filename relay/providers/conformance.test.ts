import { describe, expect, test } from 'vitest'
import { channelTypes } from '#core/channel-types/index.ts'
import { parseExactly } from '#core/exact-json.ts'
import { normaliseUsage } from '#core/usage.ts'
import { collectEvents } from '#relay/chat/collect.ts'
import { type ChatEvent, type ChatResponse, MalformedUpstream } from '#relay/chat/events.ts'
import type { JsonSchema } from '#relay/chat/request.ts'
import { hasStream, readEvents, readJson, readText } from './conformance/fixtures.ts'
import { onePixel, imageRequest, requestWith, toolConversation, weatherTool } from './conformance/requests.ts'
import { type Guarantee, guarantees, type Subject, subjects } from './conformance/subjects.ts'
import { listProviders, providerFor } from './registry.ts'
import { UpstreamRefusal } from './types.ts'

const expectedUsage = { promptTokens: 20, completionTokens: 10 }

const complete = (subject: Subject, name: string): ChatResponse =>
  subject.alwaysStreams
    ? collectEvents(streamed(subject, name))
    : subject.provider.chat.response(readJson(subject.fixtures, `${name}.json`), subject.call())

function streamed(subject: Subject, name: string): ChatEvent[] {
  const decoder = subject.provider.chat.stream(subject.call({ stream: true }))
  const events = readEvents(subject.fixtures, `${name}.sse`).flatMap((event) => decoder.push(event))
  return [...events, ...decoder.end()]
}

/** Both ways an answer can come, in the one shape they share. */
const bothWays = (subject: Subject, name: string): ChatResponse[] =>
  hasStream(subject.fixtures, name)
    ? [complete(subject, name), collectEvents(streamed(subject, name))]
    : [complete(subject, name)]

const textOf = (response: ReturnType<typeof complete>): string =>
  response.choices[0]?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') ?? ''

const usageOf = (response: ReturnType<typeof complete>) => normaliseUsage(response.usage ?? {}).usage

function sentText(subject: Subject, request = requestWith()): string {
  const sent = subject.provider.chat.request(request, subject.call({ stream: false }))
  return sent.body instanceof Uint8Array ? Buffer.from(sent.body).toString() : JSON.stringify(sent.body)
}

const checks: Readonly<Record<Guarantee, (subject: Subject) => void>> = {
  text(subject) {
    for (const response of bothWays(subject, 'text')) {
      expect(textOf(response)).toBe('Hello from upstream')
      expect(response.choices).toHaveLength(1)
      expect(response.choices[0]?.finish).toBe('stop')
      if (subject.reportsUsage) expect(usageOf(response)).toMatchObject(expectedUsage)
      else expect(response.usage).toBeUndefined()
    }
    expect(sentText(subject)).toContain('Hi')
    if (!hasStream(subject.fixtures, 'text')) return
    const events = streamed(subject, 'text')
    expect(events[0]?.type).toBe('start')
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1)
  },

  'cached tokens'(subject) {
    for (const response of bothWays(subject, 'text')) expect(usageOf(response)).toMatchObject({ cachedTokens: 8 })
  },

  tools(subject) {
    for (const response of bothWays(subject, 'tools')) {
      const calls = response.choices[0]?.parts.filter((part) => part.type === 'tool-call') ?? []
      expect(calls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([
        ['get_weather', { city: 'Paris' }],
        ['get_time', { zone: 'CET' }],
      ])
      expect(new Set(calls.map((call) => call.id)).size).toBe(2)
      expect(response.choices[0]?.finish).toBe('tool-calls')
    }
    const events = streamed(subject, 'tools')
    expect(events.flatMap((event) => (event.type === 'tool-call-start' ? [event.index] : []))).toEqual([0, 1])
    expect(events.flatMap((event) => (event.type === 'tool-call-end' ? [event.index] : []))).toEqual([0, 1])
    const sent = sentText(subject, requestWith({ tools: [weatherTool] }))
    expect(sent).toContain('get_weather')
    expect(sent).toContain('city')
  },

  thinking(subject) {
    for (const response of bothWays(subject, 'thinking')) {
      const reasoning = response.choices[0]?.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
      expect(reasoning?.join('')).toBe('Let me think.')
      expect(textOf(response)).toBe('Hello from upstream')
      expect(usageOf(response)).toMatchObject({ promptTokens: 20, completionTokens: 10 })
    }
    // What its vendor takes back word for word alone says so before the proof comes.
    const events = streamed(subject, 'thinking')
    if (events.some((event) => event.type === 'reasoning-signature' && event.dialect === 'claude'))
      for (const event of events) if (event.type === 'reasoning-delta') expect(event.signer).toBe('claude')
  },

  'stop reasons'(subject) {
    for (const response of bothWays(subject, 'length')) expect(response.choices[0]?.finish).toBe('length')
  },

  'filtered answers'(subject) {
    for (const response of bothWays(subject, 'filtered')) expect(response.choices[0]?.finish).toBe('content-filter')
  },

  images(subject) {
    expect(sentText(subject, imageRequest())).toContain(onePixel)
  },

  'tool results'(subject) {
    const sent = sentText(subject, toolConversation())
    for (const text of ['Be brief.', 'Rome', 'sunny-18', 'no-such-station', 'And tomorrow?'])
      expect(sent).toContain(text)
    expect(sent.indexOf('sunny-18')).toBeLessThan(sent.indexOf('And tomorrow?'))
    const wide = '90071992547409931234'
    const exact = sentText(
      subject,
      requestWith({
        tools: [{ ...weatherTool, parameters: parseExactly(`{"type":"object","maximum":${wide}}`) as JsonSchema }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
          {
            role: 'assistant',
            content: [{ type: 'tool-call', id: 'c', name: 'get_weather', arguments: `{"id":${wide}}` }],
          },
          {
            role: 'user',
            content: [{ type: 'tool-result', callId: 'c', content: [{ type: 'text', text: `{"id":${wide}}` }] }],
          },
        ],
      }),
    )
    // Without tools the result alone is left, as text.
    expect(exact.match(new RegExp(wide, 'g'))).toHaveLength(subject.optOut.tools === undefined ? 3 : 1)
  },

  errors(subject) {
    const { provider } = subject
    expect(provider.error(401, readText(subject.fixtures, 'error.json'))).toMatchObject({ status: 401 })
    expect(provider.error(401, readText(subject.fixtures, 'error.json')).message).not.toBe('upstream status 401')
    expect(provider.error(503, '<html>login</html>')).toMatchObject({ status: 503, message: 'upstream status 503' })
    expect(provider.error(500, '')).toMatchObject({ status: 500, type: 'upstream_error' })
  },

  'failure in mid-stream'(subject) {
    const events = streamed(subject, 'failed')
    expect(events.at(-1)?.type).toBe('error')
    expect(events.some((event) => event.type === 'finish')).toBe(false)
    const decoder = subject.provider.chat.stream(subject.call({ stream: true }))
    const [first] = readEvents(subject.fixtures, 'text.sse')
    const cut = [...(first ? decoder.push(first) : []), ...decoder.end()]
    expect(cut.some((event) => event.type === 'finish')).toBe(false)
  },

  'malformed answers'(subject) {
    const decoder = subject.provider.chat.stream(subject.call({ stream: true }))
    expect(() => decoder.push({ data: '{"cut' })).toThrow(MalformedUpstream)
    for (const json of [null, 3, 'text', [], [[]]]) {
      expect(() => subject.provider.chat.response(json, subject.call())).toThrow(MalformedUpstream)
    }
    expect(() => subject.provider.chat.response({}, subject.call())).toThrow(
      expect.toSatisfy((error) => error instanceof MalformedUpstream || error instanceof UpstreamRefusal),
    )
  },

  'model list'(subject) {
    const { models } = subject.provider
    const listed = models.request(subject.call().channel)
    expect(listed.method).toBe('GET')
    expect(listed.url).toMatch(/^https:\/\//)
    expect(models.read(readJson(subject.lists, 'models.json'))).toHaveLength(2)
    expect(models.read({ unexpected: true })).toEqual([])
  },
}

/** A vendor that speaks a second dialect sends what that dialect's first vendor sends. */
function formOf(dialect: string, { fixtures }: Subject): URL {
  const folder = { claude: 'anthropic', gemini: 'gemini' }[dialect]
  return folder === undefined ? fixtures : new URL(`./${folder}/__fixtures__/`, import.meta.url)
}

describe.each(subjects.map((subject) => [subject.name, subject] as const))('%s', (_id, subject) => {
  for (const [guarantee, check] of Object.entries(checks)) {
    const reason = subject.optOut[guarantee as Guarantee]
    const title = reason === undefined ? 'as the vendor sends it' : `not offered, because ${reason}`
    test.runIf(reason === undefined)(`${guarantee}: ${title}`, () => check(subject))
  }

  test('asks for a stream only when the call is one, and never shows the key in the body', () => {
    for (const stream of [false, true]) {
      const call = subject.call({ stream })
      const sent = subject.provider.chat.request(requestWith({ stream }), call)
      expect(JSON.stringify(sent.body)).not.toContain('test-key')
      expect(sent.method).toBe('POST')
      expect(sent.url).toMatch(/^(https|wss):\/\//)
    }
  })

  test('listens natively to what it decodes', () => {
    for (const [id, dialect] of Object.entries(subject.provider.native)) {
      // The responses form of a vendor, and its compaction, have answers and tests of their own.
      if (['openai-responses', 'openai-compaction'].includes(id)) continue
      if (dialect.accepts && !dialect.accepts({}, subject.call())) continue
      for (const name of ['text', 'tools', 'thinking']) {
        const listener = dialect.listen({ includeUsage: true })
        const verdicts = readEvents(formOf(id, subject), `${name}.sse`).map((event) => listener.push(event))
        expect(verdicts.at(-1)).toBe('hold')
        expect(listener.complete).toBe(true)
        expect(normaliseUsage(listener.usage() ?? {}).usage).toMatchObject({ promptTokens: 20, completionTokens: 10 })
        const decoded = complete(subject, name).choices[0]?.parts.filter((part) => part.type === 'tool-call') ?? []
        expect(listener.delivered().toolCalls).toBe(decoded.length)
      }
      const failing = dialect.listen({ includeUsage: true })
      const verdicts = readEvents(formOf(id, subject), 'failed.sse').map((event) => failing.push(event))
      expect(verdicts.at(-1)).toBe('failed')
      expect(failing.complete).toBe(false)
      expect(failing.failure?.message).not.toBe('')
    }
  })
})

test('what is not offered is listed with its reason, and printed', () => {
  const missing = subjects.flatMap(({ name, optOut }) =>
    Object.entries(optOut).map(([guarantee, reason]) => ({ name, guarantee, reason })),
  )
  for (const { name, guarantee, reason } of missing) expect(reason.length, `${name}: ${guarantee}`).toBeGreaterThan(10)
  const complete = subjects.length * guarantees.length
  const lines = missing.map(({ name, guarantee, reason }) => `  ${name}: ${guarantee} (${reason})`)
  const title = `${subjects.length} forms, ${complete} guarantees, ${missing.length} not offered:`
  process.stdout.write(`${[title, ...lines].join('\n')}\n`)
})

test('every type of channel-types.json that can be called has a provider in relay/providers/registry.ts', () => {
  const ownTypes = new Set(listProviders().flatMap((provider) => provider.channelTypes))
  const living = channelTypes.filter(({ status, supports }) => {
    const isChat = Object.entries(supports).some(([operation, offered]) => offered && operation !== 'task')
    return isChat && ['active', 'legacy', 'extension', 'dead'].includes(status)
  })
  expect(living.filter(({ type }) => !ownTypes.has(type)).map(({ name }) => name)).toEqual([])
})

test('every number stands for one provider, and an unknown one for the OpenAI form', () => {
  const numbers = listProviders().flatMap((provider) => provider.channelTypes)
  expect(new Set(numbers).size).toBe(numbers.length)
  expect(providerFor(9999)).toBe(providerFor(1))
  expect(new Set(listProviders().map((provider) => provider.id)).size).toBe(listProviders().length)
})
