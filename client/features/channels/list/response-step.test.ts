import { expect, test } from 'vitest'
import { responseStep } from './response-step.ts'

test('a channel is quick up to one second, then slower at three and five', () => {
  expect([1, 1000, 1001, 3000, 3001, 5000, 5001].map(responseStep)).toEqual([0, 0, 1, 1, 2, 2, 3])
})
