import { z } from 'zod'
import type { ErrorCode } from '#core/errors.ts'
import type { DrawingAction } from '#core/tasks/drawing.ts'
import { changeAction, parseCustomId, parseSimpleChange } from './actions.ts'

/** What a caller submits, by the last part of its path. */
export const submissions = [
  'imagine',
  'change',
  'simple-change',
  'action',
  'modal',
  'describe',
  'blend',
  'shorten',
  'upload-discord-images',
  'video',
  'edits',
  'swap',
] as const
export type Submission = (typeof submissions)[number]

export const pathOf = (submission: Submission): string =>
  submission === 'swap' ? '/mj/insight-face/swap' : `/mj/submit/${submission}`

/** Anything in a field that ought to hold text reads as if it were absent. */
const word = z.string().catch('')

export const drawingFields = z.object({
  prompt: word,
  taskId: z.union([z.string(), z.number().transform(String)]).catch(''),
  action: word,
  index: z.coerce.number().int().catch(0),
  content: word,
  customId: word,
  botType: word,
  state: word,
  sourceBase64: word,
  targetBase64: word,
})
type Fields = z.infer<typeof drawingFields>

/** A submission read as far as routing, prices and the task row need it; the body itself is carried on. */
export type DrawingRequest = {
  submission: Submission
  action: DrawingAction
  prompt: string
  /** The task that this one follows; "" for a first one. */
  taskId: string
  index: number
  customId: string
  botType: string
  state: string
  /** Both faces of a swap were given. */
  hasFaces: boolean
}

const plainActions: Partial<Record<Submission, DrawingAction>> = {
  imagine: 'IMAGINE',
  modal: 'MODAL',
  describe: 'DESCRIBE',
  blend: 'BLEND',
  shorten: 'SHORTEN',
  'upload-discord-images': 'UPLOAD',
  video: 'VIDEO',
  edits: 'EDITS',
  swap: 'SWAP_FACE',
}

/** @throws {UnknownAction} when the request does not tell what it wants. */
export function readDrawing(submission: Submission, body: Record<string, unknown>): DrawingRequest {
  const given = drawingFields.parse(body)
  const { action, index, taskId } = actionOf(submission, given)
  return {
    submission,
    action,
    index,
    taskId,
    prompt: given.prompt,
    customId: given.customId,
    botType: given.botType,
    state: given.state,
    hasFaces: given.sourceBase64 !== '' && given.targetBase64 !== '',
  }
}

function actionOf(submission: Submission, given: Fields): Pick<DrawingRequest, 'action' | 'index' | 'taskId'> {
  const { taskId } = given
  switch (submission) {
    case 'change':
      return { action: changeAction(given.action), index: given.index, taskId }
    case 'simple-change':
      return parseSimpleChange(given.content)
    case 'action':
      return { taskId, ...parseCustomId(given.customId) }
    default: {
      const action = plainActions[submission] as DrawingAction
      return { action, index: 1, taskId: followsTask(submission) ? taskId : '' }
    }
  }
}

/** Submissions about a task that must exist. A video may be made of one, or of an image that comes along. */
const needsTask = (submission: Submission): boolean =>
  ['change', 'simple-change', 'action', 'modal'].includes(submission)
const followsTask = (submission: Submission): boolean =>
  needsTask(submission) || submission === 'describe' || submission === 'video'

const needsIndex = (action: DrawingAction): boolean => action === 'UPSCALE' || action === 'VARIATION'

/** The first thing missing; null when the request is whole. */
export function missingPart(request: DrawingRequest): ErrorCode | null {
  const { submission, action, index } = request
  if (submission === 'imagine' && request.prompt === '') return 'drawing.prompt_required'
  if (submission === 'swap' && !request.hasFaces) return 'drawing.faces_required'
  if (needsTask(submission) && request.taskId === '') return 'drawing.task_id_required'
  if (submission === 'change' && needsIndex(action) && (index < 1 || index > 4)) return 'drawing.index_required'
  return null
}

type Rules = { keepsAccountFilter: boolean; keepsNotifyHook: boolean; clearsMode: boolean }

/** The caller's body as the upstream gets it. */
export function forwardedBody(body: Record<string, unknown>, rules: Rules): Record<string, unknown> {
  const sent = { ...body }
  if (!rules.keepsAccountFilter) delete sent['accountFilter']
  if (!rules.keepsNotifyHook) delete sent['notifyHook']
  if (rules.clearsMode && typeof sent['prompt'] === 'string') sent['prompt'] = withoutMode(sent['prompt'])
  return sent
}

/** The words that choose a mode go, with the blanks before them. */
const withoutMode = (prompt: string): string =>
  prompt
    .split(/--(?:fast|relax|turbo)(?![\w-])/)
    .map((piece, index, pieces) => (index < pieces.length - 1 ? piece.trimEnd() : piece))
    .join('')
    .trim()
