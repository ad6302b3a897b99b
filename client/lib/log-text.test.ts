import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/t.ts'
import { logText } from './log-text.ts'

test('what the product writes into the log is in the reader’s language, what others wrote stays', async () => {
  const written = '通过兑换码充值 $0.002000，兑换码 ID 7'
  expect(logText(written)).toBe(written)
  await setLanguage('en')
  expect(logText(written)).toBe('$0.002000 from redemption code 7')
  expect(logText('音乐任务 a-1 失败，退回 1000 点')).toBe('音乐 task a-1 failed, 1000 returned')
  expect(logText('购买套餐「{money}」成功，支付金额：39.00 CNY')).toBe('Plan “{money}” bought, paid 39.00 CNY')
  expect(logText('上游的答复')).toBe('上游的答复')
  await setLanguage('zh')
})

test('every sentence that is written there has its English', async () => {
  await setLanguage('en')
  const root = join(import.meta.dirname, '../..')
  const files = globSync('src/features/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const rows = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const isOfLog = /logType\./.test(text)
    return isOfLog
      ? [...text.matchAll(/content:[^\n]*?`([^`]*\p{Script=Han}[^`]*)`(?: : `([^`]*)`)?/gu)].flatMap(
          ([, ...found]) => found,
        )
      : []
  })
  const sentences = rows
    .flatMap((row) => row ?? [])
    .map((row) => row.replace(/\$\{[^}]*kind\}/g, '兑换码').replace(/\$\{act\.label\}/g, '启用'))
  expect(sentences.length).toBeGreaterThan(10)
  expect(
    sentences.filter((sentence) => /\p{Script=Han}/u.test(logText(sentence.replace(/\$\{[^}]*\}/g, 'x')))),
  ).toEqual([])
  await setLanguage('zh')
})
