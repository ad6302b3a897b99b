import { describe, expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { compileScreen, isScreened } from './screen.ts'

describe('compileScreen', () => {
  test('finds words whatever their case, and only those that are there', () => {
    const screen = compileScreen(' Test_Sensitive \n\n坏词\n')
    expect(screen.find(['This is a TEST_SENSITIVE text', '里面有坏词'])).toEqual(['Test_Sensitive', '坏词'])
    expect(screen.find(['harmless', ''])).toEqual([])
  })

  test('finds patterns also where the list has no plain word, and names them before words', () => {
    const screen = compileScreen('regex:Card\\s+\\d{4}')
    expect(screen.find(['my card  1234'])).toEqual(['regex:Card\\s+\\d{4}'])
    expect(compileScreen('zebra\nregex:z.bra\nregex:nothing').find(['a zebra'])).toEqual(['regex:z.bra', 'zebra'])
  })

  test('does not join texts: a word must stand in one of them', () => {
    expect(compileScreen('together').find(['toge', 'ther'])).toEqual([])
  })

  test('leaves out patterns that cannot be read and keeps the rest', () => {
    const screen = compileScreen('regex:(\nregex:(?=x)\nregex:\nregex:a**\nregex:ok\\d')
    expect(screen.find(['ok1 x aa'])).toEqual(['regex:ok\\d'])
  })

  test('an empty list finds nothing', () => {
    const screen = compileScreen(' \n ')
    expect([screen.isEmpty, screen.find(['anything'])]).toEqual([true, []])
  })

  test('finds the same with a long list as with a short one', () => {
    const words = Array.from({ length: 500 }, (_, index) => `Word${index}x`)
    const text = 'some WORD7x and word499X but not word500x'
    expect(compileScreen(words.join('\n')).find([text])).toEqual(['Word7x', 'Word499x'])
    expect(compileScreen('Word7x\nWord499x').find([text])).toEqual(['Word7x', 'Word499x'])
  })

  test('finds a word in every letter that is written like it in lower case, in short lists and long ones', () => {
    const letters = Array.from({ length: 0x1f000 }, (_, code) => String.fromCodePoint(code)).filter(
      (letter) => letter.toLowerCase() !== letter,
    )
    expect(letters.length).toBeGreaterThan(1000)
    const isMissed = (words: string[], text: string) =>
      compileScreen(words.join('\n')).find([text]).length < words.length
    const missed = letters.filter((letter) => isMissed([...letter.toLowerCase()], `before ${letter} after`))
    expect(missed).toEqual([])
    for (let at = 0; at < letters.length; at += 30) {
      const some = letters.slice(at, at + 30)
      expect(isMissed([...new Set(some.join('').toLowerCase())], some.join(' '))).toBe(false)
    }
    expect(compileScreen('a.c\n$1|x\n[b]').find(['abc 1 b', 'A.C', '($1|X)', '[B]'])).toEqual(['a.c', '$1|x', '[b]'])
  })

  test('a pattern made to explode takes no longer than any other', () => {
    const screen = compileScreen('regex:(a+)+$\nregex:(x|x|x)*y')
    const started = processorMs()
    expect(screen.find([`${'a'.repeat(200_000)}b`, 'x'.repeat(200_000)])).toEqual([])
    expect(processorMs() - started).toBeLessThan(60_000)
  })
})

test('isScreened follows both switches and lets the exempt group through', () => {
  const on = {
    CheckSensitiveEnabled: true,
    CheckSensitiveOnPromptEnabled: true,
    'global.safe_check_exempt_enabled': false,
    'global.safe_check_exempt_group': 'nsfw-ok',
  }
  expect(isScreened(on, 'nsfw-ok')).toBe(true)
  expect(isScreened({ ...on, CheckSensitiveEnabled: false }, 'default')).toBe(false)
  expect(isScreened({ ...on, CheckSensitiveOnPromptEnabled: false }, 'default')).toBe(false)
  const exempt = { ...on, 'global.safe_check_exempt_enabled': true }
  expect([isScreened(exempt, 'nsfw-ok'), isScreened(exempt, 'default')]).toEqual([false, true])
})
