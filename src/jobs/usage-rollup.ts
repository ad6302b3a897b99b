import { rollUpUsage } from '#features/logs/rollup.ts'
import type { Job } from './job.ts'

/** An hour that has ended is added up once, so that whoever looks at a month reads the sums of all users together. */
export const usageRollup: Job = {
  name: 'usage-rollup',
  everySeconds: (options) => options.get('DataExportInterval') * 60,
  run: async (services) => ({
    text: '用量已汇总至 {until}',
    // The moment itself: whoever reads it has a zone of their own.
    params: { until: (await rollUpUsage(services)).toISOString() },
  }),
}
