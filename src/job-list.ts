import type { Job } from '#jobs/job.ts'
import { logPartitions } from '#jobs/log-partitions.ts'
import type { RelayServices } from '#relay/gateway/call.ts'

/** Every periodic job, in the order the console shows them. */
export const jobList: readonly Job<RelayServices>[] = [logPartitions]
