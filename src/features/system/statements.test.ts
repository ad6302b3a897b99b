import { expect, test } from 'vitest'
import { withoutValues } from './statements.ts'

test('a statement is shown without the values in it', () => {
  expect(withoutValues("select *\n  from users where username = 'anna' and note = 'it''s'")).toBe(
    "select * from users where username = '…' and note = '…'",
  )
})

test('a value that was cut off is no longer there either', () => {
  expect(withoutValues("select 'sk-secret")).toBe("select '…'")
})

test('a very long statement is cut', () => {
  expect(withoutValues(`select ${'a'.repeat(5000)}`)).toHaveLength(401)
})
