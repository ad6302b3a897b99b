import { sendPlanNotices } from '#features/plans/notices.ts'
import type { Job } from './job.ts'

/** After the job of payments, which ends plans whose time is over; what it has yet to end is found a minute later. */
export const planNotices: Job = {
  name: 'plan-notices',
  everySeconds: 60,
  run: async (services, { signal }) => ({
    text: '已发送 {sent} 条套餐通知',
    params: { sent: await sendPlanNotices(services, signal) },
  }),
}
