import { expect, test } from 'vitest'
import { changedFields, fields, formValuesOf, kindOf, nameOf } from './values.ts'

const stored = formValuesOf([])
const changed = (values: Record<string, string | number | boolean>) =>
  changedFields({ ...stored, ...values }, stored).map(({ key }) => key)

test('a value whose switch is off, which nobody can type, is not saved and holds nothing up', () => {
  expect(changed({ [nameOf('RebateEnabled')]: true, [nameOf('RebatePercentage')]: 150 })).toEqual([
    'RebateEnabled',
    'RebatePercentage',
  ])
  expect(
    changed({ [nameOf('RebateEnabled')]: false, [nameOf('RebatePercentage')]: 150, [nameOf('Price')]: 8 }),
  ).toEqual(['Price'])
})

test('what is set aside for models without recent calls is typed as what it is, a number of tokens', () => {
  const field = fields.find(({ key }) => key === 'PreConsumedQuota')
  expect(field && [kindOf(field), field.unit]).toEqual(['number', 'tokens'])
})
