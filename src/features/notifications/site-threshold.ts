import type { Services } from '#features/deps.ts'

/** The threshold where nobody ever chose a threshold, neither the user nor root. */
const presetThreshold = 500_000

/** Below which balance users are warned who saved nothing themselves: what root saved. */
export function siteThreshold({ options }: Pick<Services, 'options'>): number {
  const { stored, values } = options.snapshot()
  return stored.has('QuotaRemindThreshold') ? values.QuotaRemindThreshold : presetThreshold
}
