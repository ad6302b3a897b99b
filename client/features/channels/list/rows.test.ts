import { expect, test } from 'vitest'
import { toCsv } from '../../../components/data-table/csv.ts'
import { channelColumns } from './columns.tsx'
import type { Channel } from './rows.ts'
import { channelsOf, foldByTag, toChannelRow, toTagRow } from './rows.ts'

const channel = (id: number, more: Partial<Channel> = {}): Channel =>
  ({
    id,
    name: `channel ${id}`,
    tag: 'east',
    groups: ['default'],
    usedQuota: 100,
    responseTimeMs: 0,
    priority: 1,
    weight: 2,
    status: 1,
    ...more,
  }) as Channel

test('a tag adds up what was used, averages what was tested and merges groups', () => {
  const row = toTagRow(
    'east',
    [
      channel(1, { responseTimeMs: 1000, groups: ['default', 'vip'] }),
      channel(2, { responseTimeMs: 3000 }),
      channel(3, { status: 2 }),
    ],
    false,
  )
  expect(row).toMatchObject({ usedQuota: 300, responseTimeMs: 2000, groups: ['default', 'vip'], enabled: 2 })
})

test('a tag shows priority and weight only where its channels agree', () => {
  const row = toTagRow('east', [channel(1), channel(2, { weight: 5 })], false)
  expect([row.priority, row.weight]).toEqual([1, undefined])
})

test('folded tags hide their channels, unfolded ones show them below', () => {
  const rows = foldByTag([channel(1), channel(2, { tag: 'west' }), channel(3)], ['east'])
  expect(rows.map((row) => row.id)).toEqual(['tag:east', 1, 3, 'tag:west'])
})

test('a chosen tag stands for its channels, and none counts twice', () => {
  const rows = foldByTag([channel(1), channel(2)], ['east'])
  expect(channelsOf(rows).map(({ id }) => id)).toEqual([1, 2])
})

test('a file of channels says states in words, and what was used apart from what is left', () => {
  const columns = channelColumns({} as never).filter(({ id }) => ['status', 'usedQuota'].includes(id))
  const left = { balance: 3, balanceCurrency: 'CNY', balanceUpdatedAt: new Date(0) }
  const tested = [channel(1, left), ...[2, 3, 9].map((status) => channel(status, { status }))]
  const rows = [...foldByTag(tested, []), ...tested.map((one) => toChannelRow(one))]
  expect(toCsv(columns, rows).split('\r\n')).toEqual([
    '状态,已用额度 (USD),余额',
    ',0.0008,',
    '已启用,0.0002,¥3.00',
    '已禁用,0.0002,',
    '自动禁用,0.0002,',
    '未知状态,0.0002,',
  ])
})
