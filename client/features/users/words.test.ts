import { expect, test } from 'vitest'
import { toCsv } from '../../components/data-table/csv.ts'
import { userColumns } from './columns.tsx'
import { roleText, statusOf, type User } from './words.ts'

const words = (status: number, deletedAt: Date | null = null) => statusOf({ status, deletedAt } as User).words

test('a user is active or banned, another status is unknown, and who left is deregistered whatever the status', () => {
  expect([1, 2, 3, 9].map((status) => words(status))).toEqual(['已激活', '已封禁', '未知状态', '未知状态'])
  expect([1, 2].map((status) => words(status, new Date(0)))).toEqual(['已注销', '已注销'])
})

test('the roles 1, 10 and 100 have their names, and any other is unknown', () => {
  expect([1, 10, 100, 7].map(roleText)).toEqual(['普通用户', '管理员', '超级管理员', '未知身份'])
})

test('a file of users says roles and states in words', () => {
  const columns = userColumns().filter(({ id }) => ['role', 'status'].includes(id))
  const user = { role: 10, status: 2, deletedAt: null } as User
  expect(toCsv(columns, [user])).toBe('角色,状态\r\n管理员,已封禁')
})
