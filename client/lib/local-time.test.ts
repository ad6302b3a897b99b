import { expect, test } from 'vitest'
import { fromLocalInput, toLocalInput } from './local-time.ts'

test('a field of a time can be given what it gave, also while its year is being typed', () => {
  for (const typed of ['0002-11-21T14:03', '0020-11-21T14:03', '0202-11-21T14:03', '2026-11-21T14:03']) {
    const time = fromLocalInput(typed)
    expect(time && toLocalInput(time)).toBe(typed)
  }
})
