import { attention } from '#jobs/attention.ts'
import { channelBalances, channelModels, channelTests } from '#jobs/channels.ts'
import type { Job } from '#jobs/job.ts'
import { logClearing } from '#jobs/log-clearing.ts'
import { logPartitions } from '#jobs/log-partitions.ts'
import { messageBatches } from '#jobs/message-batches.ts'
import { payments } from '#jobs/payments.ts'
import { planNotices } from '#jobs/plan-notices.ts'
import { retention } from '#jobs/retention.ts'
import { taskPolling } from '#jobs/task-polling.ts'
import { usageRollup } from '#jobs/usage-rollup.ts'
import type { RelayServices } from '#relay/request/call.ts'

/** Every periodic job, in the order the console shows them. */
export const jobList: readonly Job<RelayServices>[] = [
  channelTests,
  channelBalances,
  channelModels,
  taskPolling,
  messageBatches,
  logPartitions,
  usageRollup,
  payments,
  planNotices,
  retention,
  logClearing,
  attention,
]
