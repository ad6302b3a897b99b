import { expect, test } from 'vitest'
import { blankFigures, inputOf, listedFigures, rowsOf, toDollars, toRatios } from './rows.ts'

const blank = { ...blankFigures, unit: 'ratio' } as const

test('ratios become dollars per million tokens and come back unchanged', () => {
  const ratios = { ratio: 1.25, completionRatio: 4, cacheRatio: 0.5 }
  const dollars = toDollars(ratios, 500_000)
  expect(dollars).toEqual({ input: 2.5, output: 10, cached: 1.25 })
  expect(toRatios(dollars, 500_000)).toEqual(ratios)
  // Where a dollar is more units of quota, a unit for each token costs less.
  expect(toDollars(ratios, 1_000_000)).toEqual({ input: 1.25, output: 5, cached: 0.625 })
  expect(toRatios(dollars, 1_000_000)).toEqual({ ...ratios, ratio: 2.5 })
})

test('a price that is still blank converts to blanks', () => {
  expect(toDollars({ ratio: null, completionRatio: 3, cacheRatio: null }, 500_000)).toEqual({
    input: null,
    output: null,
    cached: null,
  })
})

test('what is typed in dollars is set as ratios, and what is blank is none any more', () => {
  expect(inputOf('m', { ...blank, unit: 'price', input: 3, output: 15 }, 500_000)).toEqual({
    model: 'm',
    modelRatio: 1.5,
    completionRatio: 5,
    cacheRatio: null,
  })
  expect(inputOf('m', { ...blank, unit: 'price', input: 3 }, 1_000_000)).toEqual({
    model: 'm',
    modelRatio: 3,
    completionRatio: null,
    cacheRatio: null,
  })
  expect(inputOf('m', { ...blank, kind: 'call', price: 0.04 }, 500_000)).toEqual({ model: 'm', modelPrice: 0.04 })
})

test('a model that only one table names is listed once', () => {
  const rows = rowsOf({ ModelPrice: { b: 0.1 }, ModelRatio: { a: 1 }, CompletionRatio: { a: 2 }, CacheRatio: {} })
  expect(rows.map(({ model, price, completionRatio }) => [model, price, completionRatio])).toEqual([
    ['a', null, 2],
    ['b', 0.1, null],
  ])
})

test('a list price is filled in for the model that it was asked for, beside what was typed meanwhile', () => {
  const price = { modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5, vendor: 'openai' }
  const asked = { model: 'gpt-4o', ...blankFigures }
  const filled = (now: Partial<typeof asked>) =>
    listedFigures(price, { asked, now: { ...asked, ...now }, quotaPerUnit: 500_000 })
  const complete = {
    kind: 'tokens',
    ratio: 1.25,
    completionRatio: 4,
    cacheRatio: 0.5,
    input: 2.5,
    output: 10,
    cached: 1.25,
    listed: { model: 'gpt-4o', price },
  }
  expect(filled({ model: ' gpt-4o' })).toEqual(complete)
  expect(filled({ model: 'gpt-4o-mini' })).toEqual({})
  const { input: _input, ...besidesInput } = complete
  expect(filled({ input: 3 })).toEqual(besidesInput)
  const { kind: _kind, ...besidesKind } = complete
  expect([filled({ kind: 'call' }), filled({ price: 0.1 })]).toEqual([besidesKind, besidesKind])
})
