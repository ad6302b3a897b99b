import { expect, test } from 'vitest'
import { draftOf as draftAt, problemOf, inputsOf as inputsAt, type PriceDraft } from './prices.ts'

const usual = 500_000
const draftOf = (model: string, given: Parameters<typeof draftAt>[1]) => draftAt(model, given, usual)
const inputsOf = (drafts: readonly PriceDraft[]) => inputsAt(drafts, usual)

const listed = { modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5, vendor: 'openai' }

test('a list price is shown in dollars per million tokens and set as ratios again', () => {
  const draft = draftOf('gpt-4o', listed)
  expect(draft).toMatchObject({ chosen: true, input: '2.5', output: '10', cached: '1.25' })
  expect(inputsOf([draft])).toEqual([{ model: 'gpt-4o', modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5 }])
})

test('what a list says of cache writes and of long prompts is set with its price', () => {
  const longContext = [{ above: 200_000, input: 2, output: 1.5 }]
  const further = { cacheWriteRatio: 0.625, longContext }
  expect(inputsOf([draftOf('MiniMax-M2', { ...listed, ...further })])).toEqual([
    { model: 'MiniMax-M2', modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5, ...further },
  ])
})

test('a figure that was emptied is none any more, whatever an earlier price has left', () => {
  const draft = { ...draftOf('gpt-4o', listed), output: '', cached: ' ' }
  expect(inputsOf([draft])).toEqual([{ model: 'gpt-4o', modelRatio: 1.25, completionRatio: null, cacheRatio: null }])
})

test('where a dollar is more units of quota, what is typed in dollars is set as more of them', () => {
  const draft = { ...draftAt('m', null, 1_000_000), chosen: true, input: '3', output: '6' }
  expect(inputsAt([draft], 1_000_000)).toEqual([{ model: 'm', modelRatio: 3, completionRatio: 2, cacheRatio: null }])
  expect(draftAt('m', listed, 1_000_000)).toMatchObject({ input: '1.25', output: '5' })
})

test('a model that no list has is not chosen until somebody types a price', () => {
  const draft = draftOf('house-model', null)
  expect(draft.chosen).toBe(false)
  expect(problemOf({ ...draft, chosen: true })).toBe('missing')
  expect(inputsOf([{ ...draft, chosen: true, input: '3', output: '6' }])).toEqual([
    { model: 'house-model', modelRatio: 1.5, completionRatio: 2, cacheRatio: null },
  ])
})

test('a price per call stands alone', () => {
  const draft = { ...draftOf('gpt-image-1', listed), kind: 'call' as const, call: '0.04' }
  expect(inputsOf([draft])).toEqual([{ model: 'gpt-image-1', modelPrice: 0.04 }])
})

test('a typed token price of nothing is refused, one from a list is not', () => {
  expect(problemOf({ ...draftOf('a', null), input: '0' })).toBe('zero')
  // Nor does it take the other prices along, where a list has them.
  expect(problemOf({ ...draftOf('gpt-4o', listed), input: '0' })).toBe('zero')
  expect(inputsOf([{ ...draftOf('gpt-4o', listed), input: '0' }])).toEqual([])
  const free = draftOf('b', { modelRatio: 0, completionRatio: 1, vendor: 'openrouter' })
  expect(problemOf(free)).toBeUndefined()
  expect(problemOf({ ...free, output: '10' })).toBe('zero')
  expect(problemOf({ ...free, cached: '1' })).toBe('zero')
})

test('what is not a number is not sent', () => {
  expect(problemOf({ ...draftOf('a', listed), output: 'ten' })).toBe('number')
})
