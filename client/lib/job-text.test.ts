import { expect, test } from 'vitest'
import { formatTime } from './format.ts'
import { jobResultText } from './job-text.ts'

test('a moment in the result of a job is in the zone of the reader, and nothing else is touched', () => {
  const until = '2026-11-27T17:00:00.000Z'
  expect(jobResultText({ text: '用量已汇总至 {until}', params: { until } })).toBe(
    `用量已汇总至 ${formatTime(new Date(until))}`,
  )
  expect(jobResultText({ text: '已测试 {tested} 个', params: { tested: 2026 } })).toBe('已测试 2026 个')
})
