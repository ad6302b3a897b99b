import { expect, test } from 'vitest'
import { changeDraft, drafted, dropDraft, moveMessage } from './drafts.ts'

test('a message that waits to be sent is known by its conversation until it is sent or moved, the latest first', () => {
  const reader = 31
  changeDraft(reader, 'a', () => ({ text: 'One' }))
  changeDraft(reader, 'b', () => ({ images: ['data:image/png;base64,AA=='] }))
  expect(drafted(reader)).toEqual(['b', 'a'])
  changeDraft(reader, 'a', ({ text }) => ({ text: `${text} more` }))
  expect(drafted(reader)).toEqual(['a', 'b'])
  expect(drafted(reader + 1)).toEqual([])

  moveMessage(reader, 'b', 'c')
  expect(drafted(reader)).toEqual(['c', 'a'])
  changeDraft(reader, 'c', () => ({ text: '', images: [] }))
  dropDraft(reader, 'a')
  expect(drafted(reader)).toEqual([])
})

test('results of functions alone are no message, and do not lead to another conversation', () => {
  changeDraft(32, 'a', () => ({ results: { 4: ['21 degrees'] } }))
  moveMessage(32, 'a', 'b')
  expect(drafted(32)).toEqual([])
})
