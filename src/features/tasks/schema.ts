import { z } from 'zod'
import { instant } from '#core/instant.ts'
import { pageInput } from '#core/paging.ts'

const word = z.string().max(255).default('')
const id = z.int().min(0).max(2_147_483_647).default(0)

/** What an owner may ask of the own drawings. Absent and empty filter nothing. */
const ownDrawingFilters = z.object({
  /** The upstream's number. */
  mjId: word,
  action: word,
  status: word,
  /** Both included. */
  start: instant().optional(),
  end: instant().optional(),
})
const drawingFilters = ownDrawingFilters.extend({ username: word, channelId: id })

export const listOwnDrawings = ownDrawingFilters.extend(pageInput.shape)
export const listDrawings = drawingFilters.extend(pageInput.shape)
export type ListDrawings = z.infer<typeof listDrawings>

/** What an owner may ask of the own jobs. */
const ownMusicFilters = z.object({
  taskId: word,
  platform: word,
  action: word,
  status: word,
  start: instant().optional(),
  end: instant().optional(),
})
const musicFilters = ownMusicFilters.extend({ username: word, channelId: id })
export const listOwnMusicTasks = ownMusicFilters.extend(pageInput.shape)
export const listMusicTasks = musicFilters.extend(pageInput.shape)
export type ListMusicTasks = z.infer<typeof listMusicTasks>

export const oneTask = z.object({ id: z.int().min(1).max(2_147_483_647) })
