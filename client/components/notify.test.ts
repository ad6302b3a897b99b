import { beforeEach, expect, test } from 'vitest'
import type { ErrorCode } from '#core/errors.ts'
import { notify, toasts } from './notify.ts'

beforeEach(() => toasts.set([]))

const refusal = (code: ErrorCode, message: string) => Object.assign(new Error(message), { data: { domainCode: code } })

test('what a demonstration does not do is no error: it is said as information, in the words of the site alone', () => {
  notify.error(refusal('demo.read_only', '本站仅作演示之用，无服务端！'), '没有删除')
  expect(toasts.get()).toMatchObject([{ kind: 'info', title: '本站仅作演示之用，无服务端！' }])
  expect(toasts.get()[0]?.description).toBeUndefined()
})

test('every other refusal is an error that says what was not done, and why', () => {
  notify.error(refusal('user.username_taken', '用户名已存在'), '没有保存')
  expect(toasts.get()).toMatchObject([{ kind: 'error', title: '没有保存', description: '用户名已存在' }])
})
