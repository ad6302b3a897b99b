import { opensDialogue } from '../tasks/drawing.ts'
import type { CallPrice } from './price.ts'
import type { TaskReceipt } from './receipt.ts'
import { figureOf, type RatioMap } from './tables.ts'

/** The name a job is priced and routed by: `mj_imagine`, `swap_face`, `suno_music`. */
export function taskModel(platform: string, action: string): string {
  const name = action.toLowerCase()
  return platform === 'mj' && name === 'swap_face' ? name : `${platform}_${name}`
}

/** The same model under a name that lists of channel types and price tables also have. */
export const taskModelAliases = (model: string): [string, ...string[]] =>
  model === 'mj_upload' ? [model, 'mj_uploads'] : [model]

/** The usual one of its names, under which calls of a task are priced. */
const usualName = (name: string): string => (name === 'mj_uploads' ? 'mj_upload' : name)

/** A lane of the drawing service has a price of its own where one is set: `mj_turbo_imagine`; else it costs what the action costs. */
export function taskPriceName(task: { model: string; mode: string }, modelPrices: RatioMap): string {
  const { mode } = task
  const model = usualName(task.model)
  const ofLane = laneOf(model, mode)
  const priced = [...(ofLane === undefined ? [] : [ofLane]), ...taskModelAliases(model)].find(
    (name) => figureOf(modelPrices, name) !== undefined,
  )
  return priced ?? model
}

/** The name under which a lane of the drawing service may have a price of its own. */
export const laneOf = (model: string, mode: string): string | undefined =>
  mode === '' || !model.startsWith('mj_') ? undefined : `mj_${mode}_${model.slice('mj_'.length)}`

/** What an accepted job is charged. Inpainting and custom zoom only open a dialogue, so they are never charged. */
export function taskReceipt(task: {
  action: string
  price: CallPrice
  groupRatio: number
  quotaPerUnit: number
  pricedModel?: string | undefined
}): TaskReceipt {
  const isFreeAction = opensDialogue(task.action.toUpperCase())
  return { formula: 'task', ...task, price: isFreeAction ? { ...task.price, modelPrice: 0 } : task.price }
}
