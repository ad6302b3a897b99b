import { clearingJob, runClearing } from '#features/logs/clearing-run.ts'
import type { Job } from './job.ts'

/** Ordered by hand, on the settings page or the log's own. */
export const logClearing: Job = {
  name: clearingJob,
  everySeconds: 0,
  run: async (services, context) => ({ text: '{count} 条日志已清理！', params: await runClearing(services, context) }),
}
