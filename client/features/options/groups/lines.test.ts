import { describe, expect, test } from 'vitest'
import { isSameLine, limitLines, ratioLines } from './lines.ts'

describe('options about groups as lines', () => {
  test('a special ratio is a line for each pair of groups, and is written back as it was', () => {
    const stored = { staff: { vip: 0.5, default: 0.8 }, vip: { default: 0.9 } }
    const lines = ratioLines.read(JSON.stringify(stored))!
    expect(lines).toEqual([
      { groups: ['staff', 'vip'], figures: [0.5] },
      { groups: ['staff', 'default'], figures: [0.8] },
      { groups: ['vip', 'default'], figures: [0.9] },
    ])
    expect(JSON.parse(ratioLines.write(lines))).toEqual(stored)
    expect(JSON.parse(ratioLines.write(lines.slice(0, 2)))).toEqual({ staff: stored.staff })
  })

  test('a limit is a line for each group, and is written back as it was', () => {
    const stored = { vip: [0, 1000], default: [100, 50] }
    const lines = limitLines.read(JSON.stringify(stored))!
    expect(lines[1]).toEqual({ groups: ['default'], figures: [100, 50] })
    expect(JSON.parse(limitLines.write(lines))).toEqual(stored)
  })

  test('what fits no table has no lines', () => {
    for (const text of ['', '{', '[]', '{"vip":"1"}']) {
      expect([ratioLines.read(text), limitLines.read(text)], text).toEqual([undefined, undefined])
    }
  })

  test('a line is known by all of its groups', () => {
    expect([isSameLine(['a', 'b'], ['a', 'b']), isSameLine(['a', 'b'], ['a', 'c'])]).toEqual([true, false])
  })
})
