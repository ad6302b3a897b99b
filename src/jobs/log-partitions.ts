import { ensureLogPartitions } from '#features/logs/partitions.ts'
import type { Job } from './job.ts'

/** A month that begins finds its table there, however long the product has been running. */
export const logPartitions: Job = {
  name: 'log-partitions',
  everySeconds: 86_400,
  run: async (services, context) => ({
    text: '日志分表已备至 {until}',
    params: { until: await ensureLogPartitions(services, context) },
  }),
}
