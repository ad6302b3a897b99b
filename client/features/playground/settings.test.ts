import { expect, test } from 'vitest'
import { firstSettings, temperatures } from './settings.ts'

test('the temperature goes from 0.1 to 1 by 0.1, and the first settings ask a helpful assistant for as much as it gives', () => {
  expect(temperatures).toEqual({ from: 0.1, to: 1, step: 0.1 })
  expect(firstSettings).toMatchObject({ maxTokens: 0, system: 'You are a helpful assistant.', group: '' })
})
