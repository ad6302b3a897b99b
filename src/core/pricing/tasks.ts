import type { CallPrice } from './price.ts'
import type { TaskReceipt } from './receipt.ts'

const freeActions = ['INPAINT', 'CUSTOM_ZOOM']

/** The name a job is priced and routed by: `mj_imagine`, `swap_face`, `suno_music`. */
export function taskModel(platform: string, action: string): string {
  const name = action.toLowerCase()
  return platform === 'mj' && name === 'swap_face' ? name : `${platform}_${name}`
}

/** What an accepted job is charged. Inpainting and custom zoom only open a dialogue, so they are never charged. */
export function taskReceipt(task: {
  action: string
  price: CallPrice
  groupRatio: number
  quotaPerUnit: number
}): TaskReceipt {
  const isFreeAction = freeActions.includes(task.action.toUpperCase())
  return { formula: 'task', ...task, price: isFreeAction ? { ...task.price, modelPrice: 0 } : task.price }
}
