import { expect, test } from 'vitest'
import { toCsv } from '../../components/data-table/csv.ts'
import { durationTone } from './cells.tsx'
import { figures, type TaskRow } from './common-columns.tsx'
import { drawingFilters, musicFilters } from './use-tasks.ts'
import { drawingWords, musicWords, resultWords, stateOf } from './words.ts'

test('a task is in one of the states of its upstream; without one it is being submitted, with another it is unknown', () => {
  const states = ['SUCCESS', 'NOT_START', 'SUBMITTED', 'IN_PROGRESS', 'FAILURE', 'MODAL', 'QUEUED', '', 'ELSE']
  expect(states.map((status) => stateOf(status).words)).toEqual([
    '成功',
    '未启动',
    '已提交',
    '执行中',
    '失败',
    '等待补充',
    '排队中',
    '提交中',
    '未知',
  ])
})

test('every documented action and result of a submission has its word', () => {
  const actions =
    'IMAGINE UPSCALE VARIATION HIGH_VARIATION LOW_VARIATION PAN DESCRIBE BLEND UPLOAD SHORTEN REROLL INPAINT ZOOM CUSTOM_ZOOM MODAL SWAP_FACE'
  expect(actions.split(' ').filter((action) => !drawingWords[action])).toEqual([])
  expect(Object.keys(musicWords)).toEqual(['MUSIC', 'LYRICS'])
  expect([1, 21, 22].map((code) => resultWords[code])).toEqual(['已提交', '等待中', '重复提交'])
})

test('drawings begin with the last 30 days, music with today, and more than 60 seconds are shown in red', () => {
  expect([drawingFilters.range, musicFilters.range]).toEqual(['30d', 'today'])
  expect([60_000, 60_001, null].map(durationTone)).toEqual([undefined, 'bad', undefined])
})

test('a file of tasks has no cost for one that failed, since its charge was given back', () => {
  const rows = ['SUCCESS', 'FAILURE'].map((status) => ({ status, quota: 250_000 }) as TaskRow)
  const columns = figures<TaskRow>().filter(({ id }) => id === 'cost')
  expect(toCsv(columns, rows)).toBe('费用 (USD)\r\n0.5\r\n0')
})
