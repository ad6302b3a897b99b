import { TRPCClientError } from '@trpc/client'
import { expect, test } from 'vitest'
import { messageOf } from '#core/errors.ts'
import { errorText, mayRetry, unreadAnswer } from './errors.ts'

const refusal = (code: 'rate_limited' | 'internal' | 'login.failed' | 'demo.read_only') =>
  Object.assign(new Error(messageOf({ code })), { data: { domainCode: code } })

test('what goes wrong with a call is said as an error, what is refused in its own words', () => {
  expect(errorText(refusal('rate_limited'))).toBe('错误：请求次数过多，请稍后再试！')
  expect(errorText(refusal('internal'))).toBe('错误：服务器内部错误，请联系管理员！')
  expect(errorText(Object.assign(new Error('teapot'), { data: { httpStatus: 418 } }))).toBe('错误：teapot')
  expect(errorText(refusal('demo.read_only'))).toBe('本站仅作演示之用，无服务端！')
  expect(errorText(refusal('login.failed'))).toBe('用户名或密码错误，或账号已被封禁')
  expect(errorText(new TypeError('Failed to fetch'))).toBe('无法连接到服务器')
})

test('an answer that says nothing is named by its status, and asked for again only where it may be another', () => {
  const arrived = (status: number) => TRPCClientError.from(unreadAnswer(status))
  const shown = [429, 502, 500, 418].map((status) => [errorText(arrived(status)), mayRetry(arrived(status))])
  expect(shown).toEqual([
    ['错误：请求次数过多，请稍后再试！', false],
    ['错误：无法连接到服务器', true],
    ['错误：服务器内部错误，请联系管理员！（HTTP 500）', false],
    ['错误：HTTP 418', false],
  ])
})
