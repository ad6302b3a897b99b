import { describe, expect, test } from 'vitest'
import { cut, hang, type Play, type Step } from '#test/support/scripted-upstream.ts'
import { serve } from '../relay/serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from '../relay/caller-dialects.ts'
import { bytesOf, frameOf, type Framing, inPieces, steady, scenarios, type Scenario } from './scenarios.ts'
import { startScriptedRelay } from '../relay/relay-world.ts'
import { isTaken } from '#test/support/long.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

const [chat, , , generate] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]
const callers: CallerDialect[] = [
  ...callerDialects,
  {
    ...chat,
    dialect: 'completions',
    path: () => '/v1/completions',
    body: (model, prompt, stream) => ({ model, prompt, ...(stream && { stream }) }),
  },
  {
    ...generate,
    dialect: 'generateContent as an array',
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent`,
    closing: /"finishReason":"STOP".*\]$/,
  },
]
/** The last of the scenarios is asked for by callers of its own dialect only. Of the others the short form takes one for each caller. */
const pairs = callers.flatMap((by, caller) =>
  scenarios
    .filter(({ upstream }, place) =>
      upstream === 'responses' ? by.dialect === 'responses' : isTaken(3, caller, place),
    )
    .map((scenario) => ({ by, scenario, caller: by.dialect, upstream: scenario.upstream })),
)

async function ask(by: CallerDialect, scenario: Scenario, play: Omit<Play, 'headers'>, setting: object = {}) {
  const input = { type: scenario.type, setting: JSON.stringify(setting), baseUrl: scripted.play(play) }
  const { model } = await serve(app, input)
  const reply = await say(app, by, { token, model, text: 'hi', stream: true })
  return { status: reply.status, text: await reply.text() }
}

/** What stands in the events of an answer; throws for anything that is no whole event. */
function read(by: CallerDialect, text: string): unknown[] {
  if (by.dialect.endsWith('array')) return JSON.parse(text) as unknown[]
  if (!text.endsWith('\n\n')) throw new Error(`not closed: ${text.slice(-200)}`)
  return text
    .slice(0, -2)
    .split('\n\n')
    .filter((event) => !event.startsWith(':'))
    .flatMap((event): unknown[] => {
      const lines = event.split('\n').filter((line) => !line.startsWith('event: '))
      if (lines.length === 0 || !lines.every((line) => line.startsWith('data: '))) throw new Error(`no event: ${event}`)
      const data = lines.map((line) => line.slice(6)).join('\n')
      return data === '[DONE]' ? [] : [JSON.parse(data)]
    })
}

const isError = (event: unknown): boolean =>
  typeof event === 'object' &&
  event !== null &&
  (('error' in event && event.error !== null && event.error !== undefined) ||
    ('type' in event && (event.type === 'error' || event.type === 'response.failed')))

/** Either a refusal before the first byte, or complete events of which the last one reports the failure. */
function expectFailure(by: CallerDialect, { status, text }: { status: number; text: string }, label = ''): void {
  if (status !== 200) {
    by.readError(JSON.parse(text))
    return
  }
  const events = read(by, text)
  expect(isError(events.at(-1)), `${label} ${text.slice(-300)}`).toBe(true)
  expect(text, label).not.toMatch(by.closing)
}

const framings: Record<string, Framing> = {
  CR: { lineEnd: '\r' },
  CRLF: { lineEnd: '\r\n' },
  'no blank after the colon': { space: '' },
  comments: { comments: true },
  'a byte order mark': { byteOrderMark: true },
  'data over several lines': { manyLines: true },
  'no last blank line': { lastBlankLine: false },
  'fields nobody asked for': { extraFields: true },
}

/** Without the white space of JSON that was spread over lines, and under one model's name. */
const compact = (by: CallerDialect, text: string): string =>
  steady(JSON.stringify(read(by, text))).replaceAll(/"model-\d+"/g, '"model"')

describe.each(pairs)('a stream of $upstream for a caller of $caller', ({ by, scenario }) => {
  const plain = bytesOf(scenario)

  test('is the same in every framing and in pieces of every size', async () => {
    const { status, text } = await ask(by, scenario, { steps: [plain] })
    expect(status).toBe(200)
    expect(text).toMatch(by.closing)
    expect(text).toContain('ße 好')
    const wanted = compact(by, text)
    for (const [name, framing] of Object.entries(framings)) {
      const other = await ask(by, scenario, { steps: [bytesOf(scenario, framing)] })
      expect(compact(by, other.text), name).toBe(wanted)
    }
    for (const size of [1, 2, 3, 7, 61]) {
      const other = await ask(by, scenario, { steps: inPieces(plain, size) })
      expect(compact(by, other.text), `pieces of ${size}`).toBe(wanted)
    }
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 5, completion_tokens: 3 })
  })

  test('that is cut at any event, or inside one, ends in complete events and an error', async () => {
    const frames = scenario.events.map((event) => frameOf(event))
    // What comes after the finish takes nothing from the answer.
    const closing = { 'chat completions': 4, messages: 7, generateContent: 3, responses: frames.length - 1 }[
      scenario.upstream
    ]
    for (let after = 0; after <= (closing ?? 0); after += 1) {
      const next = Buffer.from(frames[after] ?? '')
      const endings: Record<string, Step[]> = {
        reset: [cut],
        end: [],
        'reset inside': [next.subarray(0, next.length / 2), cut],
        'end inside': [next.subarray(0, next.length / 2)],
      }
      for (const [name, ending] of Object.entries(endings)) {
        const steps = [...frames.slice(0, after), ...ending]
        expectFailure(by, await ask(by, scenario, { steps }), `${name} after ${after}`)
      }
    }
  })

  test('that falls silent at any event ends in an error when its time is over', async () => {
    const frames = scenario.events.map((event) => frameOf(event))
    const limits = { idle_timeout: 0.05, first_byte_timeout: 0.3 }
    const fallSilent = async (after: number) => {
      const steps: Step[] = [...frames.slice(0, after), hang]
      expectFailure(by, await ask(by, scenario, { steps }, limits), `after ${after}`)
    }
    await Promise.all([0, 1, 3].map(fallSilent))
  })

  test('that comes byte after byte for a while is put up with', async () => {
    const slow = inPieces(plain, Math.ceil(plain.length / 12)).flatMap((piece): Step[] => [piece, 20])
    const { text } = await ask(by, scenario, { steps: slow }, { idle_timeout: 30 })
    expect(text).toMatch(by.closing)
  })

  test('may have events of a megabyte', async () => {
    const big = 'b'.repeat(1_048_576)
    const events = scenario.events.map(({ event, data }) => ({
      ...(event === undefined ? {} : { event }),
      data: data.replaceAll('ße 好', big),
    }))
    const { text } = await ask(by, scenario, { steps: inPieces(bytesOf({ ...scenario, events }), 9973) })
    expect(text).toMatch(by.closing)
    expect(text).toContain(big)
  })

  test('is given up at an event without end', async () => {
    const [first = '', second = ''] = scenario.events.map((event) => frameOf(event))
    const megabyte = Buffer.alloc(1_048_576, 'x')
    const commented = Buffer.concat([Buffer.from('data: '), megabyte, Buffer.from('\n:\n')])
    const endless = [
      ['data: {"endless":"', ...Array.from({ length: 50 }, () => megabyte)],
      Array.from({ length: 50 }, () => commented),
    ]
    const before = process.memoryUsage().rss
    for (const event of endless) {
      const steps: Step[] = [first, second, ...event]
      expectFailure(by, await ask(by, scenario, { steps }))
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1_048_576)
  })
})

test('an event that is no JSON is sent on as it came where the dialect is the same, and is a failure elsewhere', async () => {
  const [scenario] = scenarios as [Scenario]
  const frames = scenario.events.map((event) => frameOf(event))
  const steps = [...frames.slice(0, 2), 'data: not json {\n\n', ...frames.slice(2)]
  const same = await ask(chat, scenario, { steps })
  expect(same.text).toContain('data: not json {\n\n')
  expect(same.text).toMatch(chat.closing)
  for (const by of callers.filter((each) => each !== chat))
    expectFailure(by, await ask(by, scenario, { steps }), by.dialect)
})

test('an error as the first event is a failed attempt, not an answer', async () => {
  const [scenario] = scenarios as [Scenario]
  for (const by of callers) {
    const reply = await ask(by, scenario, {
      steps: ['data: {"error":{"message":"no luck","type":"server_error"}}\n\n'],
    })
    expect(reply.status, by.dialect).toBe(500)
    expect(by.readError(JSON.parse(reply.text)).message).toContain('no luck')
  }
})
