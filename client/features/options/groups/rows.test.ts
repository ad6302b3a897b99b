import { describe, expect, test } from 'vitest'
import { groupRows, newRow, putRow, readTables, withoutRow } from './rows.ts'

const texts = {
  GroupRatio: '{"default":1,"vip":0.8}',
  UserUsableGroups: '{"default":"Everyone","old":"Without a ratio"}',
  TopupGroupRatio: '{"vip":0.9}',
}
const tables = readTables(texts)!

describe('groups as one table', () => {
  test('has a row for every name that any of the three options names', () => {
    expect(groupRows(tables)).toEqual([
      { name: 'default', ratio: 1, topupRatio: undefined, isUsable: true, description: 'Everyone' },
      { name: 'vip', ratio: 0.8, topupRatio: 0.9, isUsable: false, description: '' },
      { name: 'old', ratio: undefined, topupRatio: undefined, isUsable: true, description: 'Without a ratio' },
    ])
  })

  test('writes a changed row into the tables it concerns, in its place', () => {
    const changed = putRow(tables, { name: 'default', ratio: 2, topupRatio: 1.5, isUsable: false, description: 'x' })
    expect(JSON.stringify(changed)).toBe(
      '{"GroupRatio":{"default":2,"vip":0.8},"UserUsableGroups":{"old":"Without a ratio"},"TopupGroupRatio":{"vip":0.9,"default":1.5}}',
    )
  })

  test('writes the same tables when nothing is changed', () => {
    for (const row of groupRows(tables)) expect(JSON.stringify(putRow(tables, row))).toBe(JSON.stringify(tables))
  })

  test('adds a group at ratio 1 that users may not choose, and takes one out of all three', () => {
    expect(putRow(tables, newRow('staff'))).toEqual({ ...tables, GroupRatio: { default: 1, vip: 0.8, staff: 1 } })
    expect(withoutRow(tables, 'vip')).toEqual({ ...tables, GroupRatio: { default: 1 }, TopupGroupRatio: {} })
  })

  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a ratio that is a text', '{"default":"1"}'],
  ])('leaves %s to the text', (_, GroupRatio) => {
    expect(readTables({ ...texts, GroupRatio })).toBeUndefined()
  })
})
