/** What a drawing task does, as callers, prices and log rows name it. */
const drawingActions = [
  'IMAGINE',
  'UPSCALE',
  'VARIATION',
  'HIGH_VARIATION',
  'LOW_VARIATION',
  'PAN',
  'ZOOM',
  'CUSTOM_ZOOM',
  'INPAINT',
  'REROLL',
  'MODAL',
  'DESCRIBE',
  'BLEND',
  'SHORTEN',
  'UPLOAD',
  'SWAP_FACE',
  'VIDEO',
  'EDITS',
] as const
export type DrawingAction = (typeof drawingActions)[number]

export const drawingStatuses = ['NOT_START', 'SUBMITTED', 'MODAL', 'IN_PROGRESS', 'FAILURE', 'SUCCESS'] as const

/** The upstream's words for how a submission went. Anything else is an error too. */
export const submitCode = {
  accepted: 1,
  /** Of an account, where a task is submitted anew; else of the task that is followed. */
  notFound: 3,
  badRequest: 4,
  failed: 5,
  exists: 21,
  queued: 22,
  queueFull: 23,
  sensitive: 24,
  busy: 30,
} as const

/** These only open a dialogue, which a MODAL call completes and pays for. */
export const opensDialogue = (action: string): boolean => action === 'INPAINT' || action === 'CUSTOM_ZOOM'

/** Faster and slower lanes of the upstream, as paths name them: `/mj-fast/mj/…`. */
export const drawingModes = ['fast', 'relax', 'turbo'] as const
export type DrawingMode = (typeof drawingModes)[number]

/** How long a drawing may take before it counts as failed. */
export const drawingTimeLimitMs = 60 * 60 * 1000
