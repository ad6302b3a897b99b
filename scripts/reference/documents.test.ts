import { expect, test } from 'vitest'
import { fillIn, referencePages } from './documents.ts'

test.each(referencePages())('$name says what the code says (npm run docs brings it up to date)', (page) => {
  expect(page.written).toBe(page.current)
})

test('a page cannot leave out what is generated for it, nor ask for what nothing generates', () => {
  const blocks = { sums: () => 'two' }
  expect(fillIn('p', 'a\n<!-- generated: sums -->\none\n<!-- end -->\nb', blocks)).toContain('\ntwo\n')
  expect(() => fillIn('p', 'a', blocks)).toThrow('sums')
  expect(() => fillIn('p', '<!-- generated: other -->\n<!-- end -->', blocks)).toThrow('other')
})
