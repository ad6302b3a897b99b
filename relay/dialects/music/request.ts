import { z } from 'zod'
import type { ErrorCode } from '#core/errors.ts'

const word = z.string().catch('')
const id = z.union([z.string(), z.number().transform(String)]).catch('')

export const musicFields = z.object({
  gpt_description_prompt: word,
  prompt: word,
  title: word,
  tags: word,
  task_id: id,
  continue_clip_id: id,
})

/** A task read as far as routing, screening and the task row need it; the body itself is carried on. */
export type MusicRequest = {
  action: string
  /** What the caller asks for, in words. */
  input: string
  texts: string[]
  /** The task that this one continues; "" for a first one. */
  taskId: string
}

/** Presets of a platform's own fields, and the first thing missing; null when the task is complete. */
export function readMusic(
  action: string,
  body: Record<string, unknown>,
): { request: MusicRequest; missing: ErrorCode | null; sent: Record<string, unknown> } {
  const given = musicFields.parse(body)
  const continues = given.continue_clip_id !== ''
  const missing =
    action === 'LYRICS' && given.prompt === ''
      ? 'music.prompt_empty'
      : continues && given.task_id === ''
        ? 'music.task_id_empty'
        : null
  return {
    request: {
      action,
      input: given.gpt_description_prompt || given.prompt,
      texts: [given.gpt_description_prompt, given.prompt, given.title, given.tags].filter((text) => text !== ''),
      taskId: continues ? given.task_id : '',
    },
    missing,
    sent: action === 'MUSIC' ? { ...body, mv: body['mv'] || 'chirp-v3-0' } : body,
  }
}
