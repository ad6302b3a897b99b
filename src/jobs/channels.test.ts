import { expect, test } from 'vitest'
import { defaultOptions, readerOf } from '#core/options/registry/index.ts'
import { channelBalances, channelModels, channelTests } from './channels.ts'
import { intervalOf } from './job.ts'
import { usageRollup } from './usage-rollup.ts'

test('channels are tested, asked for their balance and compared as often as their options say, and never at 0', () => {
  const options = readerOf(
    defaultOptions({ ChannelTestFrequency: 1, ChannelUpdateFrequency: 15, ChannelModelsFrequency: 0 }),
  )
  const intervals = [channelTests, channelBalances, channelModels].map((job) => intervalOf(job, options))
  expect(intervals).toEqual([60, 900, 0])
})

test('ended hours are added up as often as the dashboard is to be renewed', () => {
  const every = (minutes: number) => intervalOf(usageRollup, readerOf(defaultOptions({ DataExportInterval: minutes })))
  expect([every(5), every(30)]).toEqual([300, 1800])
})
