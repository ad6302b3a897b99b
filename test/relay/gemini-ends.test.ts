import { describe, expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { callerDialects, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { channelsOf, serve, withOptions } from './serve.ts'

const { app, token, scripted } = await startScriptedRelay({ options: { RetryTimes: '1' } })

const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`
const says = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }] })
const words = says({ text: ' word'.repeat(10) })
const usageMetadata = { promptTokenCount: 2000, candidatesTokenCount: 300, totalTokenCount: 2300 }
const blocked = { promptFeedback: { blockReason: 'SAFETY' } }

const gemini = (...events: object[]) => ({ type: 24, baseUrl: scripted.play({ steps: events.map(event) }) })

describe('a Gemini upstream that ends in a failure', () => {
  const malformed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }], usageMetadata }
  // What only proves hidden reasoning says nothing either.
  const proven = {
    candidates: [{ ...says({ text: '', thoughtSignature: 'AA==' }).candidates[0], ...malformed.candidates[0] }],
  }

  test.each(callerDialects)('and has said nothing is passed over, whatever it reports, in $dialect', async (by) => {
    for (const failure of [malformed, { ...proven, usageMetadata }]) {
      for (const stream of [false, true]) {
        const baseUrl = scripted.play(stream ? { steps: [event(failure)] } : json(failure))
        const { model, ids } = await serve(app, { type: 24, priority: 1, baseUrl }, { type: 24, does: 'usage=10:2' })
        const before = (await consumed(app)).length
        const reply = await say(app, by, { token, model, stream })
        expect(await reply.text()).toContain('hello')
        const rows = (await consumed(app)).slice(before)
        expect(rows.map((row) => [row.quota, channelsOf(row)])).toEqual([[450, ids]])
        // Alone it is a refusal, and free.
        await withOptions(app, { RetryTimes: '0' }, async () => {
          const refused = await say(app, by, { token, model: (await serve(app, { type: 24, baseUrl })).model, stream })
          expect(refused.status).toBe(500)
          expect(by.readError(await refused.json()).message).toContain('MALFORMED_FUNCTION_CALL')
        })
        expect(await consumed(app)).toHaveLength(before + 1)
      }
    }
  })

  test.each(callerDialects)('behind words is charged what it reports beside it, in $dialect', async (by) => {
    for (const end of [blocked, { error: { code: 500, message: 'down' } }]) {
      const { model } = await serve(app, gemini(words, { ...end, usageMetadata }))
      await (await say(app, by, { token, model, stream: true })).text()
      const row = (await consumed(app)).at(-1)
      expect(row).toMatchObject({ model_name: model, prompt_tokens: 2000, completion_tokens: 300, quota: 2300 * 37.5 })
    }
  })
})

test.each(callerDialects)('nothing that is not counted follows a blocked prompt, in $dialect', async (by) => {
  const more = Array.from({ length: 20 }, () => words)
  const { model } = await serve(app, gemini(blocked, ...more), gemini(blocked, ...more))
  const text = await (await say(app, by, { token, model, stream: true })).text()
  expect(text).not.toContain('word')
})

describe('what a Gemini upstream draws or speaks', () => {
  const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'AAAA' } })
  const end = { candidates: [{ finishReason: 'STOP' }] }
  const promptOnly = { usageMetadata: { promptTokenCount: 10 } }
  const image = inline('image/png')
  const audio = inline('audio/pcm;rate=24000')

  // Messages and responses have no place for audio, or for images.
  const bothDialects = callerDialects.filter(({ dialect }) => /^(chat|generate)/.test(dialect))
  test.each(bothDialects)('is counted by its images, each, and sound as no image, in $dialect', async (by) => {
    const counted = async (stream: boolean, ...answers: object[][]) => {
      const events = [...answers.map((parts) => says(...parts)), { ...end, ...promptOnly }]
      const complete = {
        candidates: [{ ...says(...answers.flat()).candidates[0], finishReason: 'STOP' }],
        ...promptOnly,
      }
      const baseUrl = scripted.play(stream ? { steps: events.map(event) } : json(complete))
      const { model } = await serve(app, { type: 24, baseUrl })
      await (await say(app, by, { token, model, stream })).text()
      const row = (await consumed(app)).at(-1)
      expect(row).toMatchObject({ model_name: model, prompt_tokens: 10, other: { usage_source: 'estimated' } })
      return row?.completion_tokens
    }
    for (const stream of [true, false]) {
      expect(await counted(stream, [image, image, image])).toBe(3 * 258)
      expect(await counted(stream, [image], [image])).toBe(2 * 258)
      expect(await counted(stream, [{ text: 'hello' }, image, audio])).toBe(1 + 258)
    }
  })

  test.each(bothDialects)('is an answer where it is sound alone, in $dialect', async (by) => {
    for (const reported of [{}, promptOnly]) {
      for (const stream of [true, false]) {
        const complete = { candidates: [{ ...says(audio).candidates[0], finishReason: 'STOP' }], ...reported }
        const steps = [...Array.from({ length: 20 }, () => says(audio)), { ...end, ...reported }].map(event)
        const { model } = await serve(app, { type: 24, baseUrl: scripted.play(stream ? { steps } : json(complete)) })
        await (await say(app, by, { token, model, stream })).text()
        const row = (await consumed(app)).at(-1)
        expect(row).toMatchObject({ model_name: model, completion_tokens: 0 })
        expect(row?.prompt_tokens).toBeGreaterThan(1)
        expect(row?.quota).toBe(Math.round((row?.prompt_tokens ?? 0) * 37.5))
      }
    }
  })
})
