import { builtInModels } from '#core/channel-types/built-in-models.ts'
import { channelStatus } from '#core/statuses.ts'
import { roles } from '#core/roles.ts'
import { adminProcedure, router } from '#features/procedures.ts'
import * as schema from './schema.ts'
import * as abilities from './service/abilities.ts'
import * as balance from './service/balance.ts'
import * as bulk from './service/bulk.ts'
import * as cooldowns from './service/cooldowns.ts'
import * as drift from './service/drift.ts'
import * as list from './service/list.ts'
import * as probe from './service/probe.ts'
import * as runs from './service/runs.ts'
import * as status from './service/status.ts'
import * as upstream from './service/upstream.ts'
import * as write from './service/write.ts'

export const channelsAdminRouter = router({
  list: adminProcedure.input(schema.listChannels).query(({ ctx, input }) => list.listChannels(ctx, input)),
  search: adminProcedure.input(schema.searchChannels).query(({ ctx, input }) => list.searchChannels(ctx, input)),
  /** Shows its keys to root. */
  get: adminProcedure
    .meta({ verification: (_input, { role }) => role >= roles.root })
    .input(schema.byChannelId)
    .query(({ ctx, input }) => list.getChannel(ctx, input)),
  matching: adminProcedure.input(schema.channelFilters).query(({ ctx, input }) => list.matchingChannels(ctx, input)),
  unpriced: adminProcedure.input(schema.byChannelIds).query(({ ctx, input }) => list.listUnpriced(ctx, input)),
  cooldowns: adminProcedure.input(schema.byChannelIds).query(({ ctx, input }) => cooldowns.listCooldowns(ctx, input)),
  health: adminProcedure.input(schema.channelHealth).query(({ ctx, input }) => list.channelHealth(ctx, input)),
  create: adminProcedure.input(schema.createChannel).mutation(({ ctx, input }) => write.createChannel(ctx, input)),
  update: adminProcedure.input(schema.updateChannel).mutation(({ ctx, input }) => write.updateChannel(ctx, input)),
  copy: adminProcedure.input(schema.byChannelId).mutation(({ ctx, input }) => write.copyChannel(ctx, input)),
  setStatus: adminProcedure
    .input(schema.setChannelStatus)
    .mutation(({ ctx, input }) => status.setChannelStatus(ctx, input)),
  setStatusOfMany: adminProcedure
    .input(schema.setStatusOfMany)
    .mutation(({ ctx, input }) => status.setStatusOfMany(ctx, input)),
  enable: adminProcedure
    .input(schema.byChannelId)
    .mutation(({ ctx, input }) => status.setChannelStatus(ctx, { ...input, status: channelStatus.enabled })),
  disable: adminProcedure
    .input(schema.byChannelId)
    .mutation(({ ctx, input }) => status.setChannelStatus(ctx, { ...input, status: channelStatus.disabled })),
  setKeyStatus: adminProcedure.input(schema.setKeyStatus).mutation(({ ctx, input }) => status.setKeyStatus(ctx, input)),
  setPriority: adminProcedure.input(schema.setPriority).mutation(({ ctx, input }) => write.updateChannel(ctx, input)),
  setWeight: adminProcedure.input(schema.setWeight).mutation(({ ctx, input }) => write.updateChannel(ctx, input)),
  remove: adminProcedure.input(schema.byChannelId).mutation(({ ctx, input }) => bulk.removeChannel(ctx, input)),
  removeMany: adminProcedure.input(schema.byChannelIds).mutation(({ ctx, input }) => bulk.removeChannels(ctx, input)),
  removeDisabled: adminProcedure.mutation(({ ctx }) => bulk.removeDisabledChannels(ctx)),
  setTag: adminProcedure.input(schema.setTag).mutation(({ ctx, input }) => bulk.setTag(ctx, input)),
  tags: router({
    list: adminProcedure.input(schema.listTags).query(({ ctx, input }) => abilities.listTags(ctx, input)),
    edit: adminProcedure.input(schema.editTag).mutation(({ ctx, input }) => bulk.editTag(ctx, input)),
    enable: adminProcedure
      .input(schema.byTag)
      .mutation(({ ctx, input }) => status.setTagStatus(ctx, { ...input, status: channelStatus.enabled })),
    disable: adminProcedure
      .input(schema.byTag)
      .mutation(({ ctx, input }) => status.setTagStatus(ctx, { ...input, status: channelStatus.disabled })),
  }),
  fixAbilities: adminProcedure.mutation(({ ctx }) => abilities.fixAbilities(ctx)),
  models: adminProcedure.query(() => builtInModels()),
  modelsEnabled: adminProcedure.query(({ ctx }) => abilities.listEnabledModels(ctx)),
  fetchModelsOf: adminProcedure
    .input(schema.byChannelId)
    .mutation(({ ctx, input }) => upstream.fetchModelsOf(ctx, input)),
  fetchModels: adminProcedure
    .input(schema.fetchUpstreamModels)
    .mutation(({ ctx, input }) => upstream.fetchModels(ctx, input)),
  probe: adminProcedure.input(schema.probeChannel).mutation(({ ctx, input }) => probe.probeChannel(ctx, input)),
  drifts: adminProcedure.input(schema.byChannelIds).query(({ ctx, input }) => drift.listDrifts(ctx, input)),
  runs: adminProcedure.query(({ ctx }) => runs.listRuns(ctx)),
  testAll: adminProcedure.mutation(({ ctx }) => runs.testAll(ctx)),
  startBalances: adminProcedure.mutation(({ ctx }) => runs.startBalances(ctx)),
  updateBalances: adminProcedure.mutation(({ ctx }) => runs.finishBalances(ctx)),
  cancelRun: adminProcedure.input(schema.byRun).mutation(({ ctx, input }) => runs.cancelRun(ctx, input)),
  updateBalance: adminProcedure
    .input(schema.byChannelId)
    .mutation(({ ctx, input }) => balance.updateBalanceByHand(ctx, input)),
})
