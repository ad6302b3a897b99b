import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { optionOf } from '#core/options/registry/index.ts'
import { stripeEventTypes } from './stripe.ts'

it('has every event that it takes named where its signing secret is set, in Chinese and English', () => {
  const { help } = optionOf('stripe.webhook_secret')
  const named = (text: string) => [...text.matchAll(/\b(?:checkout|charge|refund)[a-z_.]+/g)].map(([name]) => name)
  expect(named(help ?? '').toSorted()).toEqual(stripeEventTypes.toSorted())
  const english = readFileSync(new URL('../../../../client/features/options/en.json', import.meta.url), 'utf8')
  expect(named((JSON.parse(english) as Record<string, string>)[help ?? ''] ?? '')).toEqual(named(help ?? ''))
})
