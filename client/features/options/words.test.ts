import { expect, test } from 'vitest'
import { sections } from './values.ts'
import { checkPrerequisites } from '#core/options/rules.ts'
import { matching, problemText } from './words.ts'

const groups = (query: string) => matching(sections, query).map(({ group }) => group)

test('a search finds what stands beside the fields of a section too', () => {
  expect(groups('清理历史日志')).toEqual(['logs'])
  expect(groups('测试邮件')).toEqual(['mail'])
  expect(groups('测试 OIDC')).toEqual(['oidc'])
})

test('a search by key, label or name of a section finds the fields, and nonsense none', () => {
  expect(groups('SMTPServer')).toEqual(['mail'])
  expect(matching(sections, 'RetryTimes').flatMap(({ fields }) => fields.map(({ key }) => key))).toEqual(['RetryTimes'])
  expect(groups('no such setting')).toEqual([])
})

test('a switch that lacks something says what, by labels that may begin with a verb', () => {
  const values: Record<string, unknown> = {
    TurnstileCheckEnabled: true,
    TurnstileSiteKey: '',
    TurnstileSecretKey: 'set',
  }
  const problem = checkPrerequisites('TurnstileCheckEnabled', (key) => values[key])
  expect(problem && problemText(problem)).toBe('请先填写「Turnstile Site Key」，再打开「启用 Turnstile 用户校验」')
})
