import { expect, test } from 'vitest'
import { problemsOf, sentencesIn } from './check-i18n.ts'

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
