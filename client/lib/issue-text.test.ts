import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { issueText } from './issue-text.ts'

beforeAll(() => {
  z.config({ customError: issueText })
})

const messageOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message

test('an empty field is asked for, whatever its type', () => {
  expect(messageOf(z.string().min(1), '')).toBe('请填写此项')
  expect(messageOf(z.number(), Number.NaN)).toBe('请输入数字')
  expect(messageOf(z.date(), null)).toBe('请填写此项')
})

test('limits are shown with their numbers', () => {
  expect(messageOf(z.string().min(8), 'short')).toBe('至少 8 个字符')
  expect(messageOf(z.number().max(100), 101)).toBe('不能大于 100')
  expect(messageOf(z.number().positive(), 0)).toBe('必须大于 0')
  expect(messageOf(z.number(), 'cheap')).toBe('请输入数字')
  expect(messageOf(z.array(z.string()).max(1), ['a', 'b'])).toBe('最多选择 1 项')
  expect(messageOf(z.number().int(), 1.5)).toBe('请输入整数')
})

test('a message of the schema itself is left as it is', () => {
  expect(messageOf(z.string().min(8, '密码长度不得小于 8 位！'), 'short')).toBe('密码长度不得小于 8 位！')
})
