import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import type { Client, ClientFacts, Turn } from './clients/client.ts'
import { type ChannelKind, channelKinds, startWorld, type World } from './world.ts'

type Library = {
  name: string
  create: (url: string, key: string) => Client
  facts: ClientFacts
  /** Calls in this dialect are charged by the formula that rounds down, whatever the channel. */
  roundsDown: boolean
}

const weather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  properties: { city: { type: 'string' as const } },
}

const fingerprint = createHash('sha256').update(pixel).digest('hex').slice(0, 16)

/** The cases every library must pass against every kind of channel. */
export function describeLibrary(library: Library): void {
  const { facts } = library
  describe(`${library.name}`, () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld(library.create)
    })
    afterAll(() => world.close())

    describe.each(channelKinds)('against $name', (kind) => {
      const charge = library.roundsDown ? kind.floored : kind.charge
      const [input = 0, output = 0] = kind.usage.split(':').map(Number)
      const usage = { input, output }
      const measured = `[[usage=${kind.usage}]]`

      test.each([
        { way: 'whole', stream: false },
        { way: 'streamed', stream: true },
      ])('a plain answer arrives $way, with its stop reason and usage, charged exactly', async ({ stream }) => {
        const turn = await world.client.ask({ model: kind.model, text: `hello there ${measured}`, stream })
        expect(turn).toMatchObject({ text: 'You said: hello there', stop: facts.stop, usage, calls: [] })
        expect(await world.newCharges()).toEqual([charge])
      })

      test('a tool is called and its result answered, whole and streamed', async () => {
        for (const stream of [false, true]) {
          const ask = { model: kind.model, text: `get_weather, city is Paris ${measured}`, tools: [weather], stream }
          const turn = await world.client.ask(ask)
          expect(turn).toMatchObject({ stop: facts.toolUse, usage })
          expect(turn.calls).toMatchObject([{ name: 'get_weather', arguments: { city: 'Paris' } }])
          const answer = await world.client.ask({ ...ask, results: [{ turn, texts: ['21 degrees'] }] })
          expect(answer).toMatchObject({ stop: facts.stop, usage, calls: [] })
          expect(answer.text).toContain('The tool says:')
          expect(answer.text).toContain('21 degrees')
          expect(await world.newCharges()).toEqual([charge, charge])
          expectSameId(kind, world, turn)
        }
      })

      test('an image arrives with every byte', async () => {
        for (const stream of [false, true]) {
          const ask = { model: kind.model, text: `look ${measured}`, image: pixel, stream }
          const turn = await world.client.ask(ask)
          expect(turn).toMatchObject({ stop: facts.stop, usage })
          expect(turn.text).toBe(`Image image/png ${pixel.length} bytes sha256 ${fingerprint}. You said: look`)
          expect(await world.newCharges()).toEqual([charge])
        }
      })

      test('errors of the upstream and of the gateway arrive as the library’s own classes, and cost nothing', async () => {
        for (const status of [400, 401, 403, 404, 429, 500, 503]) {
          const failure = await world.client.failureOf({ model: kind.model, text: `[[status=${status}]]` })
          expect(failure).toMatchObject({ status, class: facts.errorClass(status) })
          expect(failure.message).toContain(status === 429 ? facts.busy : `Simulated failure ${status}.`)
        }
        const streamed = await world.client.failureOf({ model: kind.model, text: '[[status=400]]', stream: true })
        expect(streamed).toMatchObject({ status: 400, class: facts.errorClass(400) })
        const unauthenticated = await world.unauthenticated.failureOf({ model: kind.model, text: 'hello' })
        expect(unauthenticated).toMatchObject({ status: 401, class: facts.errorClass(401) })
        expect(unauthenticated.message).toContain('Invalid token')
        const unknown = await world.client.failureOf({ model: `${kind.model}-unknown`, text: 'hello' })
        expect(unknown).toMatchObject({ status: facts.unknownModel, class: facts.errorClass(facts.unknownModel) })
        expect(unknown.message).toContain(`supports model ${kind.model}-unknown`)
        expect(await world.newCharges()).toEqual([])
      })
    })
  })
}

/** The id under which the caller answered is the one the upstream gave out. */
function expectSameId(kind: ChannelKind, world: World, turn: Turn): void {
  const id = turn.calls[0]?.id ?? ''
  const given = { 1: /^call_sim/, 14: /^toolu_sim/, 24: /./ }[kind.type]
  expect(id).toMatch(given)
  if (kind.type !== 24) expect(JSON.stringify(world.lastBody())).toContain(`"${id}"`)
}
