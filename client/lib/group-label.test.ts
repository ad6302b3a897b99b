import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/t.ts'
import { groupLabel } from './group-label.ts'

test('what a new installation says of its groups is in the language of the reader, what somebody wrote stays', async () => {
  const groups = [
    { name: 'default', description: '默认分组', ratio: 1 },
    { name: 'vip', description: '会员', ratio: 0.8 },
    { name: 'none', description: '', ratio: 1 },
  ]
  expect(groups.map(groupLabel)).toEqual(['default · 默认分组 · ×1', 'vip · 会员 · ×0.8', 'none · ×1'])
  await setLanguage('en')
  expect(groups.map(groupLabel)[0]).toBe('default · Default group · ×1')
  expect(groups.map(groupLabel)[1]).toBe('vip · 会员 · ×0.8')
  await setLanguage('zh')
})
