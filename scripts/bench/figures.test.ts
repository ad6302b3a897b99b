import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { conversation } from './generator/body.ts'
import { createConnections } from './generator/connections.ts'
import { percentile, summarise } from './generator/load.ts'
import { runLoad } from './generator/run-load.ts'
import { loadsOf } from './against.ts'
import { timeByOwner } from './cpu-profile.ts'
import { median } from './measure.ts'
import { noiseOf, spreadOf } from './noise.ts'
import { readOptions } from './options.ts'

test('percentiles are values that were seen', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(summarise(values)).toEqual({ p50: 50, p99: 99, highest: 100 })
  expect(percentile([7], 99)).toBe(7)
  expect(summarise([])).toEqual({ p50: Number.NaN, p99: Number.NaN, highest: Number.NaN })
})

test('medians of trials do not follow one that went wrong', () => {
  expect(median([3, 1000, 1])).toBe(3)
  expect(median([1, 2])).toBe(1.5)
})

test('a run is quoted only from a machine that was quiet, with trials that agree', () => {
  expect(spreadOf([100, 90, 110])).toBeCloseTo(0.2)
  expect(spreadOf([100])).toBe(0)
  const spreads = [
    { what: 'gateway', share: 0.2 },
    { what: 'bare', share: 0.45 },
  ]
  expect(noiseOf({ load: 0.4, cores: 2, spreads: spreads.slice(0, 1) })).toEqual([])
  expect(noiseOf({ load: 3, cores: 2, spreads })).toEqual([
    'the machine was busy before the run: load 3.0 on 2 cores',
    'bare: trials are 45 % apart',
  ])
})

test('a profile reports whose code took how much of the time, without waiting and what lay outside of the load', () => {
  const frames = [
    ['(idle)', ''],
    ['(garbage collector)', ''],
    ['parse', ''],
    ['request', 'file:///app/node_modules/@scope/client/lib/a.js'],
    ['settle', 'file:///app/src/features/ledger/service.ts'],
    ['write', 'node:internal/streams/writable'],
    ['tryOnce', 'file:///app/relay/attempt/attempts.ts'],
  ]
  const nodes = frames.map(([functionName = '', url = ''], id) => ({
    id,
    callFrame: { functionName, url, lineNumber: 0, columnNumber: 0 },
  }))
  // A sample a millisecond: the first and the last are not of the load.
  const samples = [6, 0, 1, 2, 3, 4, 5, 6, 6, 6, 4]
  const profile = { nodes, samples, timeDeltas: samples.map(() => 1000) }
  const owners = timeByOwner(profile, { fromEndMs: 9.5, toEndMs: 0.5 })
  expect(owners[0]).toEqual({ owner: 'relay/attempt', share: 3 / 8 })
  expect(owners.map(({ owner }) => owner).toSorted()).toEqual([
    '@scope/client',
    'collecting garbage',
    'functions of V8: JSON, texts, maps',
    'node:streams',
    'relay/attempt',
    'src/features/ledger',
  ])
})

test('another gateway is named with its key, and gets cold and warm, streams and long prompts', () => {
  expect(readOptions(['--against', 'http://other:8080/v1', '--key', 'sk-a'])?.other).toMatchObject({
    origin: 'http://other:8080',
    key: 'sk-a',
  })
  expect(() => readOptions(['--against', 'http://other:8080'])).toThrow('--key')
  const loads = loadsOf(3)
  expect(loads[0]?.pace).toMatchObject({ kind: 'open', seconds: 30 })
  expect([loads.some(({ stream }) => stream), loads.some(({ bodyBytes }) => bodyBytes === 100_000)]).toEqual([
    true,
    true,
  ])
  expect(loads.filter(({ maxTokens }) => maxTokens === 32_000)).toMatchObject([{ stream: true, bodyBytes: 100_000 }])
})

test('a limit stands in the body as it was ordered', () => {
  const asked = (maxTokens?: number) =>
    JSON.parse(conversation({ model: 'm', stream: true, bodyBytes: 300, maxTokens }).toString()) as {
      max_tokens: number
    }
  expect([asked(32_000).max_tokens, asked().max_tokens]).toEqual([32_000, 256])
})

test('bodies have about the length that was ordered', () => {
  for (const bodyBytes of [10_000, 100_000, 400_000]) {
    const { length } = conversation({ model: 'm', stream: false, bodyBytes })
    expect(Math.abs(length - bodyBytes)).toBeLessThan(1200)
  }
})

/** Answers nothing for a while, then at once. */
async function startStalling(milliseconds: number, status = 200) {
  let start: number | undefined
  const server = createServer((_request, response) => {
    // The stall begins with the first request, whenever that comes.
    start ??= performance.now()
    const left = Math.max(0, start + milliseconds - performance.now())
    setTimeout(() => response.writeHead(status).end('{}'), left)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connections = createConnections(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const close = async () => {
    await connections.close()
    server.close()
  }
  return { connections, close }
}

const load = { origin: '', path: '/', keys: ['k'], model: 'm', stream: false, bodyBytes: 100 }

test('in an open loop a stall is felt by every request that was due in it', async () => {
  const { connections, close } = await startStalling(400)
  const result = await runLoad({ ...load, pace: { kind: 'open', perSecond: 100, seconds: 0.4 } }, connections)
  await close()
  expect(result.answers).toBe(40)
  // Due all through the stall, half of them waited for more than its half.
  expect(result.latency.p50).toBeGreaterThan(150)
})

test.each([
  ['none for want of time where it came at once', 0, 0],
  ['one for want of time where it came after a wait', 1200, 5],
])('an answer with a bad status is a failure, and no latency; %s', async (_, milliseconds, refusals) => {
  const { connections, close } = await startStalling(milliseconds, 503)
  using clock = vi.spyOn(performance, 'now')
  // Nobody waits then, however busy the machine.
  if (milliseconds === 0) clock.mockReturnValue(0)
  const result = await runLoad({ ...load, pace: { kind: 'burst', callers: 5, overSeconds: 0 } }, connections)
  await close()
  expect(result).toMatchObject({ answers: 0, failures: 5, refusals })
  expect(result.firstFailure).toContain('503')
})
