import { expect, test } from 'vitest'
import { normaliseUsage } from './usage.ts'

const tokens = { promptTokens: 10, completionTokens: 5 }

test.each(['webSearchCalls', 'fileSearchCalls'] as const)('%s beyond a thousand are no figure', (name) => {
  const counted = (value: number) => {
    const { usage, corrected } = normaliseUsage({ ...tokens, [name]: value })
    return [usage[name], corrected]
  }
  expect(counted(1000)).toEqual([1000, false])
  expect(counted(1001)).toEqual([0, true])
  expect(counted(900_000_000)).toEqual([0, true])
})

test('containers and drawn images are cut to a thousand', () => {
  const many = <Item>(item: Item) => Array.from({ length: 1001 }, () => item)
  const containers = many({ id: '', gigabytes: 1 })
  const images = many({ quality: '', size: '' })
  const { usage, corrected } = normaliseUsage({ ...tokens, containers, drawing: { model: 'm', images } })
  expect([usage.containers?.length, usage.drawing?.images.length, corrected]).toEqual([1000, 1000, true])
})

test('searches are cut to what the call allows', () => {
  expect(normaliseUsage({ ...tokens, webSearchCalls: 7 }, 5)).toMatchObject({
    usage: { webSearchCalls: 5 },
    corrected: true,
  })
  expect(normaliseUsage({ ...tokens, webSearchCalls: 5 }, 5)).toMatchObject({
    usage: { webSearchCalls: 5 },
    corrected: false,
  })
})
