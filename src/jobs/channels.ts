import { compareAllModels, testAllChannels, updateAllBalances } from '#features/channels/service/all.ts'
import type { Job } from './job.ts'

export const channelTests: Job = {
  name: 'channel-tests',
  everySeconds: (options) => options.get('ChannelTestFrequency') * 60,
  run: async (services, run) => ({
    text: '已测试 {tested} 个渠道：{failed} 个失败，{disabled} 个被禁用，{enabled} 个重新启用',
    params: await testAllChannels(services, run),
  }),
}

export const channelBalances: Job = {
  name: 'channel-balances',
  everySeconds: (options) => options.get('ChannelUpdateFrequency') * 60,
  run: async (services, run) => ({
    text: '已更新 {updated} 个渠道的余额：{failed} 个失败，{disabled} 个余额不足被禁用',
    params: await updateAllBalances(services, run),
  }),
}

export const channelModels: Job = {
  name: 'channel-models',
  everySeconds: (options) => options.get('ChannelModelsFrequency') * 60,
  run: async (services, run) => ({
    text: '已比对 {compared} 个渠道：{changed} 个与上游不一致，{failed} 个失败',
    params: await compareAllModels(services, run),
  }),
}
