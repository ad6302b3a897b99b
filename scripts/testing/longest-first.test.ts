import { expect, test } from 'vitest'
import { longestFirst } from './longest-first.ts'

const file = (path: string, seconds: number) => ({ path, seconds })

test('the longest file starts first, and equals by their names', () => {
  const files = [file('test/b.test.ts', 1), file('test/long.test.ts', 60), file('test/a.test.ts', 1)]
  expect(longestFirst(files).map(({ path }) => path)).toEqual(['test/long.test.ts', 'test/a.test.ts', 'test/b.test.ts'])
})

test('files with a browser are spread over the others, and none is lost', () => {
  const browsers = [3, 2, 1].map((number) => file(`test/browser/${number}.test.ts`, number * 10))
  const others = [6, 5, 4, 3, 2, 1].map((number) => file(`test/other/${number}.test.ts`, number * 10))
  const order = longestFirst([...browsers, ...others])
  expect(order.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
    ...browsers.toReversed(),
    ...others.toReversed(),
  ])
  const places = order.flatMap(({ path }, index) => (path.startsWith('test/browser/') ? [index] : []))
  expect(places.filter((place, index) => places[index + 1] === place + 1)).toEqual([])
})
