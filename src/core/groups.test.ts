import { expect, test } from 'vitest'
import { autoGroups, groupNames, mayUseGroup, usableGroups } from './groups.ts'
import { defaultOptions, readerOf } from './options/registry/index.ts'

const options = readerOf(
  defaultOptions({
    GroupRatio: { default: 1, vip: 0.8, staff: 0.5 },
    UserUsableGroups: { default: '默认分组', vip: '', gone: 'no ratio' },
    GroupGroupRatio: { staff: { vip: 0.1 } },
  }),
)

test("lists one's own group first, then the open ones, and leaves out what has no ratio", () => {
  expect(usableGroups(options, 'staff')).toEqual([
    { name: 'staff', ratio: 0.5, description: '用户分组', groups: ['staff'] },
    { name: 'default', ratio: 1, description: '默认分组', groups: ['default'] },
    { name: 'vip', ratio: 0.1, description: 'vip', groups: ['vip'] },
  ])
})

test('shows an anonymous visitor the open groups at their common price', () => {
  expect(usableGroups(options, '').map(({ name, ratio }) => [name, ratio])).toEqual([
    ['default', 1],
    ['vip', 0.8],
  ])
})

test('lets nobody into a group that is neither open nor their own', () => {
  expect(mayUseGroup(options, 'default', 'staff')).toBe(false)
  expect(mayUseGroup(options, 'default', 'vip')).toBe(true)
  expect(mayUseGroup(options, 'unpriced', 'unpriced')).toBe(true)
  expect(mayUseGroup(options, 'default', 'gone')).toBe(false)
  expect(mayUseGroup(options, 'default', 'constructor')).toBe(false)
})

test('names the groups in order', () => {
  expect(groupNames(options)).toEqual(['default', 'staff', 'vip'])
})

test('auto stands for those of its groups that the user may use by name, in their order, and is open where it is any', () => {
  const groups = {
    GroupRatio: { default: 1, vip: 0.8, staff: 0.5 },
    UserUsableGroups: { default: '', vip: '', gone: '', auto: '自动选择' },
    AutoGroups: ['staff', 'auto', 'gone', 'vip', 'default'],
  }
  const given = readerOf(defaultOptions(groups))
  expect(autoGroups(given, 'default')).toEqual(['vip', 'default'])
  expect(autoGroups(given, 'staff')).toEqual(['staff', 'vip', 'default'])
  expect(usableGroups(given, 'staff').at(-1)).toEqual({
    name: 'auto',
    ratio: 0.5,
    description: '自动选择',
    groups: ['staff', 'vip', 'default'],
  })
  expect(mayUseGroup(given, 'default', 'auto')).toBe(true)
  const unoffered = readerOf(defaultOptions({ ...groups, UserUsableGroups: { default: '' } }))
  expect(usableGroups(unoffered, 'default').map(({ name }) => name)).toEqual(['default'])
  expect(mayUseGroup(unoffered, 'default', 'auto')).toBe(true)
  const closed = readerOf(defaultOptions({ ...groups, AutoGroups: ['staff'] }))
  expect(mayUseGroup(closed, 'default', 'auto')).toBe(false)
})
