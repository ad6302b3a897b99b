/** A service that takes jobs and reports on them later. Music is the first; another is one more row. */
export type TaskPlatform = {
  id: string
  /** What log rows call its jobs. */
  label: string
  channelType: number
  actions: readonly string[]
  submitPath: (action: string) => string
  fetchPath: string
}

export const taskPlatforms = {
  suno: {
    id: 'suno',
    label: '音乐',
    channelType: 36,
    actions: ['MUSIC', 'LYRICS'],
    submitPath: (action) => `/suno/submit/${action}`,
    fetchPath: '/suno/fetch',
  },
} as const satisfies Record<string, TaskPlatform>

export const platformOf = (id: string): TaskPlatform | undefined =>
  Object.values<TaskPlatform>(taskPlatforms).find((platform) => platform.id === id)

export const taskStatuses = [
  'NOT_START',
  'SUBMITTED',
  'QUEUED',
  'IN_PROGRESS',
  'FAILURE',
  'SUCCESS',
  'UNKNOWN',
] as const

/** How long a job may take before it counts as failed. */
export const taskTimeLimitMs = 24 * 60 * 60 * 1000
