import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isConfusingName, nameLikeness } from './similar-names.ts'

describe('names that look alike have one likeness', () => {
  test.each([
    ['admin', 'Admin', 'ADMIN', 'аdmin', 'аԁміп', 'ａｄｍｉｎ', 'adm\u200bin', 'admín', 'adm1n', 'admln', 'AdmIn'],
    ['root', 'Root', 'rооt', 'r00t', 'ro\u2060ot', 'rοοτ', 'r〇○t', '®oot'],
    ['paypal', 'paypaI', 'pаypаl', 'ΡΑYΡΑL'],
    ['王小明', '王\u200d小明'],
    ['a b', 'a\u00a0b', 'a  b', 'a\u3000b'],
  ])('%s and its neighbours', (...names) => {
    expect([...new Set(names.map(nameLikeness))]).toHaveLength(1)
  })

  test.each([
    ['anna', 'hanna'],
    ['user1', 'user2'],
    ['王小明', '王小朋'],
    ['が', 'か'],
    ['tom', 'tim'],
    ['ab', 'a b'],
  ])('%s and %s stay two', (left, right) => {
    expect(nameLikeness(left)).not.toBe(nameLikeness(right))
  })

  test('letter case never matters, and the likeness of a likeness is itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäöñа王が-_.09') }), (name) => {
        const likeness = nameLikeness(name)
        expect(nameLikeness(name.toUpperCase())).toBe(likeness)
        expect(nameLikeness(likeness)).toBe(likeness)
      }),
    )
  })
})

describe('what could pass for another name', () => {
  test.each([
    'adm\u200bin',
    'a\u202eb',
    'ad\u00admin',
    'a\u3164b',
    'rооt',
    'pаypal',
    'Αdmin',
    'a\u2800',
    'á̂̃',
    '\ue000',
    'rᴏᴏt',
    'rꝏt',
    'rꭃt',
    'ꞅoot',
  ])('is seen in %j', (name) => expect(isConfusingName(name)).toBe(true))

  test.each([
    'admin',
    'José',
    'Иван',
    'Ελένη',
    '王小明',
    '王小明Tom',
    'たなかタロウ',
    '김철수',
    'علي',
    'राम',
    'a_b-c.d 1',
    'x@y.z',
  ])('is not seen in %s', (name) => expect(isConfusingName(name)).toBe(false))
})
