import { expect, test } from 'vitest'
import { readSetting, writeSetting } from './setting.ts'

test('a field changes its key and leaves those the form does not know', () => {
  const text = writeSetting('{"own": 1, "proxy": "http://a"}', 'proxy', 'http://b')
  expect(JSON.parse(text)).toEqual({ own: 1, proxy: 'http://b' })
})

test('what is switched off or emptied leaves no trace', () => {
  const on = writeSetting('', 'force_format', true)
  expect(JSON.parse(on)).toEqual({ force_format: true })
  expect(writeSetting(on, 'force_format', false)).toBe('')
})

test('a text that is no object is distinguished from an empty one', () => {
  expect(readSetting(' ')).toEqual({})
  expect(readSetting('[1]')).toBeUndefined()
  expect(readSetting('{')).toBeUndefined()
})
