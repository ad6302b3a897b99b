import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { abilityModel, modelsAt, splitList, splitPrefix } from './abilities.ts'
import { candidates, tiersOf } from './candidates.ts'
import type { CandidateInput, Route } from './candidates.ts'
import { actualModels, resolveModelMapping } from './model-names.ts'
import { bindSession, pickKey, pickRoute } from './pick-route.ts'

const routeOf = (channelId: number, rest: Partial<Route> = {}): Route => ({
  channelId,
  priority: 0,
  weight: 0,
  keys: [0],
  ...rest,
})
const idsOf = (found: { routes: readonly Route[] } | undefined): number[] | undefined =>
  found?.routes.map((route) => route.channelId)
const triedKeys = (...pairs: [channelId: number, keys: number[]][]) =>
  new Map(pairs.map(([id, keys]) => [id, new Set(keys)]))

const first: CandidateInput = { attempt: 0, tried: new Map(), forceSwitch: false }

describe('candidates', () => {
  const tiers = tiersOf([
    routeOf(1, { priority: 5 }),
    routeOf(2, { priority: 5 }),
    routeOf(3, { priority: 1 }),
    routeOf(4, { priority: -1 }),
  ])

  test('attempt n looks in the n-th tier', () => {
    expect(idsOf(candidates(tiers, first))).toEqual([1, 2])
    expect(idsOf(candidates(tiers, { ...first, attempt: 1, tried: triedKeys([1, [0]]) }))).toEqual([3])
    expect(idsOf(candidates(tiers, { ...first, attempt: 2, tried: triedKeys([1, [0]], [3, [0]]) }))).toEqual([4])
  })

  test('a tier with none left gives way to the next lower', () => {
    expect(idsOf(candidates(tiers, { ...first, attempt: 1, tried: triedKeys([3, [0]]) }))).toEqual([4])
  })

  test('past the last tier the untried come from the top', () => {
    const tried = triedKeys([1, [0]], [3, [0]], [4, [0]])
    expect(candidates(tiers, { ...first, attempt: 3, tried })).toEqual({
      routes: [routeOf(2, { priority: 5 })],
      state: 'fresh',
    })
    expect(idsOf(candidates(tiers, { ...first, attempt: 2, tried }))).toEqual([2])
  })

  test('with all tried, the switch decides between the end and trying again', () => {
    const tried = triedKeys([1, [0]], [2, [0]], [3, [0]], [4, [0]])
    expect(candidates(tiers, { ...first, attempt: 4, tried, forceSwitch: true })).toBeUndefined()
    const again = candidates(tiers, { ...first, attempt: 4, tried })
    expect([again?.state, idsOf(again)]).toEqual(['again', [1, 2]])
  })

  test('only the untried keys of a channel are left, and another channel goes first', () => {
    const keyed = tiersOf([routeOf(1, { keys: [0, 1, 2] }), routeOf(2)])
    const tried = triedKeys([1, [1]])
    expect(idsOf(candidates(keyed, { ...first, attempt: 1, tried }))).toEqual([2])
    const alone = tiersOf([routeOf(1, { keys: [0, 1, 2] })])
    expect(candidates(alone, { ...first, attempt: 1, tried })?.routes[0]?.keys).toEqual([0, 2])
  })

  test('where the request has been for another model, it may go, but an unvisited channel of the tier goes first', () => {
    const visited = triedKeys([1, [0]])
    expect(idsOf(candidates(tiers, { ...first, visited }))).toEqual([2])
    const isHealthy = (): boolean => true
    expect(idsOf(candidates(tiers, { ...first, visited, isHealthy }))).toEqual([2])
    expect(idsOf(candidates(tiersOf([routeOf(1)]), { ...first, visited }))).toEqual([1])
  })

  test('a key in its cooldown gives way to a lower tier and is used only when nothing else is left', () => {
    const isHealthy = (channelId: number): boolean => channelId === 4
    const found = candidates(tiers, { ...first, isHealthy })
    expect([found?.state, idsOf(found)]).toEqual(['fresh', [4]])
    const none = candidates(tiers, { ...first, isHealthy: () => false })
    expect([none?.state, idsOf(none)]).toEqual(['cooling', [1, 2]])
  })

  test('nothing comes of no channel, or of channels without a usable key', () => {
    expect(candidates([], first)).toBeUndefined()
    expect(candidates(tiersOf([routeOf(1, { keys: [] })]), first)).toBeUndefined()
  })

  test('a model prefix ignores priorities', () => {
    const flat = tiersOf([routeOf(1, { priority: 5 }), routeOf(2)], { ignorePriority: true })
    expect(idsOf(candidates(flat, first))).toEqual([1, 2])
  })

  test('a request goes everywhere once before it goes anywhere twice', () => {
    const anyRoutes = fc.uniqueArray(
      fc.record({
        channelId: fc.nat(20),
        priority: fc.integer({ min: -2, max: 2 }),
        weight: fc.nat(5),
        keys: fc.constantFrom([0], [0, 1]),
      }),
      { selector: (route) => route.channelId, minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(anyRoutes, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (routes, random) => {
        const all = tiersOf(routes)
        const tried = new Map<number, Set<number>>()
        const places = routes.reduce((total, route) => total + route.keys.length, 0)
        for (let attempt = 0; attempt < places; attempt += 1) {
          const found = candidates(all, { attempt, tried, forceSwitch: true })
          const route = pickRoute(found?.routes ?? [], random)
          const key = pickKey(route?.keys ?? [], attempt)
          if (route === undefined || key === undefined) throw new Error('ended early')
          expect(tried.get(route.channelId)?.has(key) ?? false).toBe(false)
          tried.set(route.channelId, new Set([...(tried.get(route.channelId) ?? []), key]))
        }
        expect(candidates(all, { attempt: places, tried, forceSwitch: true })).toBeUndefined()
      }),
    )
  })
})

describe('pickRoute', () => {
  const share = (weights: number[], options?: { plainWeights: boolean }): number[] => {
    const routes = weights.map((weight, channelId) => routeOf(channelId, { weight }))
    const hits = weights.map(() => 0)
    for (let step = 0; step < 1100; step += 1) {
      const id = pickRoute(routes, step / 1100, options)?.channelId ?? 0
      hits[id] = (hits[id] ?? 0) + 1
    }
    return hits
  }

  test('weights 0 and 90 share 10 to 100', () => {
    expect(share([0, 90])).toEqual([100, 1000])
  })

  test('with a prefix the plain weight counts, and all zero is an even share', () => {
    expect(share([0, 90], { plainWeights: true })).toEqual([0, 1100])
    expect(share([0, 0], { plainWeights: true })).toEqual([550, 550])
  })

  test('gives nothing of nothing and something of the largest random number', () => {
    expect(pickRoute([], 0.5)).toBeUndefined()
    expect(pickRoute([routeOf(1), routeOf(2)], 1 - 2 ** -53)?.channelId).toBe(2)
  })
})

describe('pickKey', () => {
  test('takes the keys in turn', () => {
    expect([0, 1, 2, 3, 4].map((turn) => pickKey([4, 7, 9], turn))).toEqual([4, 7, 9, 4, 7])
    expect(pickKey([], 3)).toBeUndefined()
  })
})

describe('bindSession', () => {
  const routes = [
    routeOf(1, { weight: 0, keys: [0, 1] }),
    routeOf(2, { weight: 20, keys: [0, 1] }),
    routeOf(3, { weight: 50, keys: [0, 1] }),
  ]
  const sessions = Array.from({ length: 4000 }, (_, index) => `session-${index}`)

  test('gives a session the same route and key whatever the order of the channels', () => {
    for (const session of sessions.slice(0, 100)) {
      expect(bindSession(routes.toReversed(), session)).toEqual(bindSession(routes, session))
    }
  })

  test('shares sessions in proportion to the weights and keys evenly', () => {
    const bound = sessions.map((session) => bindSession(routes, session))
    const shares = [1, 2, 3].map(
      (id) => bound.filter((found) => found?.route.channelId === id).length / sessions.length,
    )
    expect(shares[0]).toBeCloseTo(10 / 100, 1)
    expect(shares[1]).toBeCloseTo(30 / 100, 1)
    expect(shares[2]).toBeCloseTo(60 / 100, 1)
    expect(bound.filter((found) => found?.key === 0).length / sessions.length).toBeCloseTo(0.5, 1)
  })

  test('moves only the sessions of a channel that went away', () => {
    const without = routes.filter((route) => route.channelId !== 2)
    const others = sessions.filter((session) => bindSession(routes, session)?.route.channelId !== 2)
    expect(others.length).toBeLessThan(sessions.length)
    expect(others.map((session) => bindSession(without, session))).toEqual(
      others.map((session) => bindSession(routes, session)),
    )
  })

  test('binds nothing to nothing', () => {
    expect(bindSession([], 'a')).toBeUndefined()
    expect(bindSession([routeOf(1, { keys: [] })], 'a')).toBeUndefined()
  })
})

describe('resolveModelMapping', () => {
  test('follows links to their end', () => {
    expect(resolveModelMapping('{"a":"b","b":"c"}', 'a')).toEqual({ ok: true, model: 'c', isMapped: true })
    expect(resolveModelMapping('{"a":"b","b":"b"}', 'a')).toEqual({ ok: true, model: 'b', isMapped: true })
    expect(resolveModelMapping('{"x":"y"}', 'a')).toEqual({ ok: true, model: 'a', isMapped: false })
    expect(resolveModelMapping('', 'a')).toEqual({ ok: true, model: 'a', isMapped: false })
  })

  test('takes a link to itself for no mapping and a way back for an error', () => {
    expect(resolveModelMapping('{"a":"a"}', 'a')).toEqual({ ok: true, model: 'a', isMapped: false })
    for (const mapping of ['{"a":"b","b":"a"}', '{"a":"b","b":"c","c":"b"}']) {
      expect(resolveModelMapping(mapping, 'a')).toEqual({ ok: false, problem: 'model_mapping_contains_cycle' })
    }
  })

  test('refuses what is no object of names, and finds no link in an object’s own members', () => {
    for (const bad of ['{', '[]', '"a"', '{"a":1}', '3']) {
      expect(resolveModelMapping(bad, 'a')).toEqual({ ok: false, problem: 'unmarshal_model_mapping_failed' })
    }
    expect(resolveModelMapping('{"a":"b"}', 'constructor')).toMatchObject({ model: 'constructor', isMapped: false })
  })
})

describe('actualModels', () => {
  const mapping = {
    smart: [
      { model: 'low', priorities: 0, weight: 0 },
      { model: 'one', priorities: 5, weight: 0 },
      { model: 'two', priorities: 5, weight: 30 },
    ],
  }

  test('orders by priority, equal ones by weighted probability, nothing below 10', () => {
    let seed = 1
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647
    const drawn = Array.from({ length: 2000 }, () => actualModels(mapping, 'smart', random))
    expect(drawn.every((models) => models[2] === 'low' && models.length === 3)).toBe(true)
    expect(drawn.filter((models) => models[0] === 'two').length / 2000).toBeCloseTo(0.75, 1)
  })

  test('leaves other names as they are, those of object members too', () => {
    for (const name of ['gpt-4o', 'constructor', '__proto__'])
      expect(actualModels(mapping, name, () => 0)).toEqual([name])
  })
})

describe('abilities', () => {
  test('are listed with blanks trimmed, empties and repeats dropped', () => {
    expect(splitList(' a, b,,a')).toEqual(['a', 'b'])
  })

  test('of custom GPTs stand under one name', () => {
    expect(['gpt-4-gizmo-x', 'gpt-4o-gizmo-x', 'gpt-4o'].map(abilityModel)).toEqual([
      'gpt-4-gizmo-*',
      'gpt-4o-gizmo-*',
      'gpt-4o',
    ])
  })

  test('behind a prefix are found by the longest one', () => {
    expect(splitPrefix('azure/eu/gpt-4o', ['', 'azure/', 'azure/eu/'])).toEqual({
      prefix: 'azure/eu/',
      model: 'gpt-4o',
    })
    expect(splitPrefix('gpt-4o', ['', 'azure/'])).toBeUndefined()
    expect(splitPrefix('azure/', ['azure/'])).toBeUndefined()
  })

  test('of one channel are those behind a name that it lists, or all, each without the channel’s own prefix', () => {
    const channel = { models: ['gpt-4o', 'gpt-4-gizmo-*'], modelPrefix: 'own/' }
    const at = (...names: string[]) =>
      modelsAt(
        channel,
        names.map((model) => ({ model })),
      ).map(({ model }) => model)
    expect(at('o3', 'own/gpt-4o', 'gpt-4-gizmo-x')).toEqual(['gpt-4o', 'gpt-4-gizmo-x'])
    expect(at('own/o3', 'others/gpt-4o')).toEqual(['o3', 'others/gpt-4o'])
    expect(at('own/')).toEqual(['own/'])
    const asWritten = modelsAt({ ...channel, models: ['own/gpt-4o'] }, [{ model: 'own/gpt-4o' }])
    expect(asWritten).toEqual([{ model: 'own/gpt-4o' }])
  })
})
