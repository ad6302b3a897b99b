import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { collectEvents } from '#relay/chat/collect.ts'
import { anyAnswer } from '../testing/arbitrary-events.ts'
import { answering, streamText, testContext } from '../testing/stream-text.ts'
import { untranslatable } from '#relay/chat/losses.ts'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import { refusalOf } from '../testing/refusal.ts'
import { openAiCompletions } from './index.ts'

const refusal = (body: unknown) => refusalOf(openAiCompletions, body)

describe('legacy completion', () => {
  it.each([
    [{ model: 'm' }, 'prompt is required'],
    [{ model: 'm', prompt: '' }, 'prompt is required'],
    [{ prompt: 'x' }, 'model is required'],
    [{ model: 'm', prompt: 'x', max_tokens: -1 }, 'max_tokens is invalid'],
    [{ model: 'm', prompt: 'x', n: 0 }, 'n is invalid'],
    [{ model: 'm', prompt: [] }, 'prompt is required'],
    [{ model: 'm', prompt: ['a', 1] }, 'prompt is invalid'],
    [{ model: 'm', prompt: [[1], 'a'] }, 'prompt is invalid'],
    [{ model: 'm', prompt: [1.5] }, 'prompt is invalid'],
    [{ model: 'm', prompt: 'x', best_of: 1000 }, 'best_of is invalid'],
  ])('refuses %j', (body, message) => {
    expect(refusal(body)).toBe(`invalid_text_request: ${message}`)
  })

  it('makes the prompt what a user says and names what has no counterpart', () => {
    const body = {
      model: 'm',
      prompt: ['hi'],
      max_tokens: 5,
      echo: true,
      best_of: 3,
      suffix: 'x',
      logprobs: 2,
      store: true,
    }
    expect(openAiCompletions.parse(body, {})).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      maxTokens: 5,
      losses: ['suffix', 'echo', 'best_of', 'logprobs'],
      extra: { fields: { store: true } },
    })
  })

  it.each([
    [['a', 'b'], { count: 2, tokens: 0 }, 6],
    [[1, 2, 3], { count: 1, tokens: 3 }, 3],
    [[[1, 2], [3]], { count: 2, tokens: 3 }, 6],
  ])('knows how much the prompts %j ask for', (prompt, plainPrompts, choiceCount) => {
    const request = openAiCompletions.parse({ model: 'm', prompt, n: 2, best_of: 3 }, {})
    expect(request).toMatchObject({ plainPrompts, choiceCount })
    expect(untranslatable(request, 'openai-chat')).toContain('prompt')
    expect(cheapPromptTokens(request).promptTokens).toBeGreaterThan(plainPrompts.tokens)
  })

  it('streams what the official client adds up to the complete answer', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer('claude'), async (events) => {
        const { early, complete } = streamText(openAiCompletions.stream(testContext()), events)
        expect(early).not.toMatch(/"finish_reason":"|"usage"/)
        const client = new OpenAI({ apiKey: 'sk-test', baseURL: 'http://relay.test/v1', fetch: answering(complete) })
        const stream = await client.completions.create({ model: 'm', prompt: 'hi', stream: true })
        const expected = openAiCompletions.encode(collectEvents(events), testContext()) as OpenAI.Completion
        let text = ''
        let last: OpenAI.Completion | undefined
        for await (const chunk of stream) {
          text += chunk.choices[0]?.text ?? ''
          last = chunk
        }
        expect(text).toBe(expected.choices[0]?.text)
        expect(last?.usage).toEqual(expected.usage)
        expect(complete.endsWith('data: [DONE]\n\n')).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
