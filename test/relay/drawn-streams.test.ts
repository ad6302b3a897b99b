import { expect, test } from 'vitest'
import { type CallerDialect, callerDialects, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

// Responses go through to an upstream of this kind in a form of their own.
const translatedOrOwn = callerDialects.filter(({ dialect }) => dialect !== 'responses')

test.each(translatedOrOwn)(
  'a streamed answer that is an image costs its 258 tokens where its upstream reports nothing, for $dialect',
  async (by: CallerDialect) => {
    const steps = [chunk({ role: 'assistant', content: '', images: [image] }), chunk({}, 'stop'), 'data: [DONE]\n\n']
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    const reply = await say(app, by, { token, model, stream: true })
    expect(await reply.text()).toMatch(by.closing)
    expect((await consumed(app)).at(-1)).toMatchObject({
      model_name: model,
      completion_tokens: 258,
      other: { usage_source: 'estimated' },
    })
    // One price for all tokens.
    const row = (await consumed(app)).at(-1)
    expect(row?.quota).toBe(Math.round(((row?.prompt_tokens ?? 0) + 258) * 37.5))
  },
)
