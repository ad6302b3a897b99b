import { expect, test } from 'vitest'
import { setLanguage } from '../../i18n/t.ts'
import { contentText, tokenNameOf } from './details.ts'

test('amounts in texts are as short as everywhere else, and exact where they are small', () => {
  const shown = (content: string) => contentText({ content, other: null })
  expect(shown('新用户注册赠送 $5.000000')).toBe('新用户注册赠送 $5.00')
  expect(shown('签到获得 $0.002000')).toBe('签到获得 $0.002')
  expect(shown('v1.000000')).toBe('v1.000000')
})

test('the name that tests of channels have instead of a token is the product’s own, and that of a token is not', async () => {
  await setLanguage('en')
  expect(tokenNameOf({ tokenId: 0, tokenName: '模型测试' })).toBe('Model test')
  expect(tokenNameOf({ tokenId: 7, tokenName: '模型测试' })).toBe('模型测试')
  await setLanguage('zh')
  expect(tokenNameOf({ tokenId: 0, tokenName: '模型测试' })).toBe('模型测试')
})
