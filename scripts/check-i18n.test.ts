import { expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { lateForVisitors, problemsOf, sentencesIn, visitorFolders } from './check-i18n.ts'

const used = (...sentences: string[]) => sentences.map((sentence) => ({ sentence, file: 'page.tsx' }))

test('finds sentences in calls of t and text, quoted either way, and nothing else', () => {
  const source = `t('保存成功') text('钱包') t("it's {name}", { name }) format('无') <p>{t(\n  '第二行',\n)}</p>`
  expect(sentencesIn(source)).toEqual(['保存成功', '钱包', "it's {name}", '第二行'])
})

test('reports a sentence without English and English that nobody says', () => {
  const translations = new Map([['en.json', { 保存: 'Save', 旧的: 'Old' }]])
  expect(problemsOf(used('保存', '新的'), translations)).toEqual([
    'page.tsx: “新的” has no English',
    'en.json: “旧的” is unused',
  ])
})

test('reports two features that translate one sentence differently', () => {
  const translations = new Map([
    ['a/en.json', { 余额: 'Balance' }],
    ['b/en.json', { 余额: 'Credit' }],
  ])
  expect(problemsOf(used('余额'), translations)).toHaveLength(1)
})

test('reports English that lost a parameter of its sentence', () => {
  expect(problemsOf(used('共 {total} 条'), new Map([['en.json', { '共 {total} 条': 'rows' }]]))).toHaveLength(1)
})

test('what visitors read has its English in what they are sent', () => {
  const used = ['登录', '额度'].map((sentence) => ({ sentence, file: 'client/features/auth/login-page.tsx' }))
  const translations = new Map<string, Record<string, string>>([
    ['client/i18n/en.json', { 登录: 'Log in' }],
    ['client/features/users/en.json', { 额度: 'Quota' }],
  ])
  const folders = visitorFolders(readFileSync(new URL('../client/i18n/en-visitors.ts', import.meta.url), 'utf8'))
  expect(lateForVisitors(used, translations, folders)).toEqual([
    'client/features/auth/login-page.tsx: “额度” has its English only in a file that comes after the sign-in',
  ])
})
