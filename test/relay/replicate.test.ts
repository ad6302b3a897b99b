import { describe, expect, test } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import { cut, json, type Play } from '#test/support/scripted-upstream.ts'
import { serve, withOptions } from './serve.ts'
import { chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

const channel = async (model: string) => {
  const { id } = await app.make.channel({ type: 56, models: model })
  await app.services.channels.reload(id)
}

const draw = async (model: string, fields: Record<string, unknown>) => {
  const reply = await app.relay(token, '/v1/images/generations', { model, ...fields })
  return { status: reply.status, body: (await reply.json()) as { data?: unknown; error?: { message: string } } }
}

describe('Replicate', () => {
  test('draws by a model’s name, at once or after a while, and is charged once', async () => {
    await channel('black-forest-labs/flux-1.1-pro')
    for (const prompt of ['a red dot', 'slow 1 red dot']) {
      const before = (await consumed(app)).length
      const from = app.upstream.requests.length
      const { status, body } = await draw('black-forest-labs/flux-1.1-pro', { prompt, size: '1024x1792' })
      expect(status).toBe(200)
      expect(body.data).toEqual([{ b64_json: pixel.toString('base64') }])
      const [made, ...looks] = app.upstream.requests.slice(from)
      expect(made).toMatchObject({
        path: '/v1/models/black-forest-labs/flux-1.1-pro/predictions',
        headers: { prefer: 'wait' },
        body: { input: { prompt, aspect_ratio: '9:16' } },
      })
      expect(looks.map((look) => `${look.method} ${look.path.replace(/pred.*$/, 'pred')}`)).toEqual(
        prompt.startsWith('slow') ? ['GET /v1/pred'] : [],
      )
      expect((await consumed(app)).length - before).toBe(1)
    }
  })

  test('draws by the version of a model that has no name of its own', async () => {
    await channel('someone/sketch:5c7d')
    await draw('someone/sketch:5c7d', { prompt: 'a red dot', n: 2, input: { steps: 4 } })
    expect(app.upstream.requests.at(-1)).toMatchObject({
      path: '/v1/predictions',
      body: { version: '5c7d', input: { prompt: 'a red dot', num_outputs: 2, steps: 4 } },
    })
  })

  test('draws one image by models that answer with one alone, and is charged one, whatever number was asked for', async () => {
    const image = `data:image/png;base64,${pixel.toString('base64')}`
    const drawBy = async (output: unknown, fields: object) => {
      const baseUrl = scripted.play(json({ id: 'p', status: 'succeeded', output }))
      const { model } = await serve(app, { type: 56, baseUrl })
      const reply = await app.relay(token, '/v1/images/generations', { model, prompt: 'a dot', ...fields })
      expect(reply.status).toBe(200)
      return [(await consumed(app)).at(-1)?.quota, reply.headers.get('x-translation-loss')]
    }
    const [each, none] = await drawBy(image, {})
    expect(none).toBeNull()
    expect(await drawBy(image, { n: 3 })).toEqual([each, 'n'])
    expect(await drawBy([image, image, image], { n: 3 })).toEqual([3 * Number(each), null])
  })

  test('that draws nothing costs nothing', async () => {
    await channel('someone/broken')
    const before = (await consumed(app)).length
    const { status, body } = await draw('someone/broken', { prompt: 'a broken dot' })
    expect(status).toBe(500)
    expect(body.error?.message).toContain('the model broke')
    expect((await consumed(app)).length).toBe(before)
  })

  test('draws once, however one fares who looks at what it draws', async () => {
    const under = { id: 'p', status: 'processing' }
    const done = json({ id: 'p', status: 'succeeded', output: [`data:image/png;base64,${pixel.toString('base64')}`] })
    const drawBy = async (firstLook: Play) => {
      const paths: string[] = []
      const baseUrl = scripted.play((path) => {
        const looks = paths.push(path) - 1
        return looks === 0 ? json(under) : looks === 1 ? firstLook : done
      })
      const route = { type: 56, baseUrl }
      const { model } = await serve(app, route, route)
      const { status } = await draw(model, { prompt: 'a dot' })
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      return { status, charges: rows.length, asked: paths.map((path) => path.replace(/^.*predictions/, '')) }
    }
    await withOptions(app, { RetryTimes: '1' }, async () => {
      const looks: Play[] = [{ status: 503, steps: [] }, { steps: [cut] }, { status: 404, steps: [] }]
      const [afterRefusal, afterCut, unknown] = await Promise.all(looks.map(drawBy))
      expect(afterRefusal).toEqual({ status: 200, charges: 1, asked: ['', '/p', '/p'] })
      expect(afterCut).toEqual(afterRefusal)
      // The image may be there, and another upstream would draw a second one.
      expect(unknown).toEqual({ status: 404, charges: 0, asked: ['', '/p'] })
    })
  })

  test('is never asked to chat', async () => {
    const { model } = await serve(app, { type: 56 })
    const from = app.upstream.requests.length
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(400)
    expect(app.upstream.requests).toHaveLength(from)
  })
})
