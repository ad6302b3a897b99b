import { expect, test } from 'vitest'
import { unifyStrict } from './uniform-strict.ts'

test('tools are all strict or none is, and what is given up is named', () => {
  const named = (...strict: (boolean | undefined)[]) =>
    strict.map((value) => ({
      type: 'function',
      function: { name: 'f', ...(value === undefined ? {} : { strict: value }) },
    }))
  const unified = (...strict: (boolean | undefined)[]) => {
    const body = { tools: named(...strict) }
    return { losses: unifyStrict(body), tools: body.tools }
  }
  expect(unified(true, undefined, false)).toEqual({ losses: ['tools.strict'], tools: named(false, false, false) })
  for (const same of [
    [true, true],
    [undefined, undefined],
    [undefined, false],
  ])
    expect(unified(...same)).toEqual({ losses: [], tools: named(...same) })
  expect(unifyStrict({})).toEqual([])
  const search = { type: 'web_search' }
  const mixed = { tools: [...named(true), search] }
  unifyStrict(mixed)
  expect(mixed.tools).toEqual([...named(false), search])
})
