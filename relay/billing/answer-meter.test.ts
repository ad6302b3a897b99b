import { describe, expect, test } from 'vitest'
import type { AttemptContext } from '#relay/attempt/attempt-context.ts'
import { createWeight } from '#relay/providers/shared/answer-record.ts'
import type { StreamWriter } from '#relay/response/stream-writer.ts'
import { createAnswerMeter } from './answer-meter.ts'

/** A stream that is priced at one a token, on a balance of so much. Set aside are 200, of which the prompt takes one. */
function startStream(balance: number, { limit = 0, grows = true, model = 'gpt-4o', reports = false } = {}) {
  const hold = {
    amount: 200,
    crowded: () => false,
    idle: () => Promise.resolve(),
    raise: (wanted: number) => {
      const isThere = wanted <= balance
      if (isThere) hold.amount = wanted
      const available = balance - hold.amount
      return Promise.resolve(isThere ? { outcome: 'raised' } : { outcome: 'refused', available })
    },
  }
  const price = { kind: 'ratio', modelRatio: 1, completionRatio: 1, cacheRatio: 1, cacheWriteRatio: 1 }
  const ratios = { cacheWrite1hRatio: 1, imageRatio: 1, audioRatio: 1, audioCompletionRatio: 1, source: 'table' }
  const terms = {
    promptTokens: 0,
    cacheWriteMarked: 0,
    price: { ...price, ...ratios },
    groupRatio: 1,
    quotaPerUnit: 500_000,
    formula: 'text',
  }
  const weight = createWeight()
  const context = {
    call: { caller: { user: { id: 1 }, token: null }, upstreamAbort: new AbortController() },
    held: { hold, facts: { grows, limit, choices: 1, terms }, plan: { answerTokens: 199 } },
    services: {
      holds: { lengths: { expect: () => ({ answerRatio: 1 }) } },
      // Half of what the cheap count makes of it.
      counter: { count: () => Promise.resolve(weight.tokens() / 2) },
    },
    attempt: { upstreamModel: model },
  }
  const writer = {
    complete: () => false,
    usage: () => (reports ? { completionTokens: weight.tokens() } : undefined),
    written: () => ({ text: '', toolCalls: 0, tokens: weight.tokens() }),
  }
  const meter = createAnswerMeter(context as unknown as AttemptContext, writer as unknown as StreamWriter)
  return {
    hold,
    written: weight.tokens,
    /** Whether more may follow. Lets what was asked for arrive. */
    send: async (text: string, sealed = ''): Promise<boolean> => {
      if (text !== '') weight.add({ type: 'text-delta', text })
      const choices = [{ index: 0, delta: { content: text }, finish_reason: null, ...(sealed && { sealed }) }]
      const data = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })
      const mayGoOn = meter?.note({ event: '', data }) ?? true
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
      return mayGoOn
    },
    more: async (): Promise<boolean> => (await meter?.more()) === 'yes',
  }
}

test('nothing is set aside for what large events carry beside the answer', async () => {
  const { hold, send, written } = startStream(1_000_000)
  for (let event = 0; event < 200; event += 1) expect(await send(' the')).toBe(true)
  for (let event = 0; event < 200; event += 1) await send('', 'x'.repeat(900))
  expect(await send(' the')).toBe(true)
  expect(hold.amount).toBeLessThan(written() * 4)
})

test('text that grows denser than it began does not run beyond what can be paid', async () => {
  const { hold, send, written } = startStream(2000)
  for (let event = 0; event < 60; event += 1) await send(event === 0 ? 'a' : 'abc')
  while (await send('中'.repeat(40))) expect(written()).toBeLessThan(4000)
  // The event that is refused to follow is the last to have been let out.
  expect(written()).toBeLessThanOrEqual(hold.amount)
})

describe.each([
  ['its own limit', { limit: 199 }],
  ['the limit that was sent for it', { grows: false }],
])('an answer whose hold covers %s', (_, of) => {
  /** Sends pieces up to so many tokens, of which the upstream counts half. Returns how many they were. */
  async function stream(balance: number, most: number, more: { model?: string; reports?: boolean } = {}) {
    const { hold, send, more: mayGoOn, written } = startStream(balance, { ...of, ...more })
    while (written() < most && ((await send('word')) || (await mayGoOn()))) continue
    return { held: hold.amount, counted: written() / 2 }
  }

  test('is neither cut nor paid for beyond it while it stays within it, however it is counted here', async () => {
    expect(await stream(200, 398)).toEqual({ held: 200, counted: 199 })
    expect(await stream(100_000, 398)).toEqual({ held: 200, counted: 199 })
  })

  test('is not cut where the encoder here takes several times the tokens of its vendor', async () => {
    expect(await stream(200, 900, { model: 'gemini-2.5-pro' })).toEqual({ held: 200, counted: 450 })
  })

  test('is cut sooner where that vendor itself counts more than the limit', async () => {
    const { counted } = await stream(200, 4000, { model: 'gemini-2.5-pro', reports: true })
    expect(counted).toBeLessThan(240)
  })

  test('is cut behind it where nothing more can be paid', async () => {
    const { counted } = await stream(200, 4000)
    expect(counted).toBeLessThan(240)
  })

  test('is paid for behind it as far as there is something', async () => {
    const { held, counted } = await stream(1000, 4000)
    expect(held).toBe(1000)
    expect(counted).toBeGreaterThan(900)
    expect(counted).toBeLessThanOrEqual(1000)
  })
})
