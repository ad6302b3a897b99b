import type { DrawingAction } from '#core/tasks/drawing.ts'

/** Words of a refusal that callers compare, as the drawing services have them. */
export type DrawingRefusal =
  | 'custom_id_is_required'
  | 'unknown_action'
  | 'index_parse_failed'
  | 'action_is_required'
  | 'content_is_required'
  | 'content_parse_failed'
  | `unknown_action:${string}`

/** This request names no action, so neither a model nor a price. */
export class UnknownAction extends Error {
  override name = 'UnknownAction'
  readonly word: DrawingRefusal
  constructor(word: DrawingRefusal) {
    super(word)
    this.word = word
  }
}

/** What follows from an earlier task: the action, the image of the grid it is about, and that task where the request names it elsewhere. */
export type FollowUp = { action: DrawingAction; index: number; taskId?: string }

/** What a button is called in its id, where the whole name counts. */
const buttons: Record<string, DrawingAction> = {
  low_variation: 'LOW_VARIATION',
  high_variation: 'HIGH_VARIATION',
  reroll: 'REROLL',
  outpaint: 'ZOOM',
  customzoom: 'CUSTOM_ZOOM',
  inpaint: 'INPAINT',
}

/**
 * Reads the id of a button: `MJ::JOB::upsample::2::…`, `MJ::CustomZoom::…`.
 * @throws {UnknownAction}
 */
export function parseCustomId(customId: string): FollowUp {
  if (customId === '') throw new UnknownAction('custom_id_is_required')
  const parts = customId.split('::')
  const name = (parts[1] === 'JOB' ? parts[2] : parts[1])?.toLowerCase()
  if (name === undefined || name === '') throw new UnknownAction('unknown_action')
  const known = Object.hasOwn(buttons, name) ? buttons[name] : undefined
  if (known) return { action: known, index: 1 }
  if (name.startsWith('upsample')) return { action: 'UPSCALE', index: indexOf(parts[3]) }
  if (name === 'variation') return { action: 'VARIATION', index: indexOf(parts[3]) }
  if (name.includes('pan')) return { action: 'PAN', index: 1 }
  if (name.includes('reroll')) return { action: 'REROLL', index: 1 }
  if (name.includes('animate') || name.includes('video')) return { action: 'VIDEO', index: 1 }
  throw new UnknownAction(`unknown_action:${customId}`)
}

function indexOf(text: string | undefined): number {
  if (text === undefined || !/^\d{1,3}$/.test(text)) throw new UnknownAction('index_parse_failed')
  return Number(text)
}

const changes: Record<string, DrawingAction> = { UPSCALE: 'UPSCALE', VARIATION: 'VARIATION', REROLL: 'REROLL' }

/** @throws {UnknownAction} */
export function changeAction(action: string): DrawingAction {
  if (action === '') throw new UnknownAction('action_is_required')
  const known = Object.hasOwn(changes, action.toUpperCase()) ? changes[action.toUpperCase()] : undefined
  if (!known) throw new UnknownAction('unknown_action')
  return known
}

const letters: Record<string, DrawingAction> = { U: 'UPSCALE', V: 'VARIATION', R: 'REROLL' }

/**
 * Reads `<task id> U1`, `<task id> V2`, `<task id> R`.
 * @throws {UnknownAction}
 */
export function parseSimpleChange(content: string): FollowUp & { taskId: string } {
  if (content.trim() === '') throw new UnknownAction('content_is_required')
  const match = /^(\S+)\s+(?:([UV])([1-4])|(R))$/i.exec(content.trim())
  const action = match && letters[(match[2] ?? match[4] ?? '').toUpperCase()]
  if (!match?.[1] || !action) throw new UnknownAction('content_parse_failed')
  return { taskId: match[1], action, index: Number(match[3] ?? 1) }
}
