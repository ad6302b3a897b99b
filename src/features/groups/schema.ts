import { z } from 'zod'

const name = z
  .string()
  .trim()
  .min(1)
  .max(64)
  // Channels keep their groups joined by commas.
  .regex(/^[^,\s]+$/)

export const renameGroup = z.object({ from: z.string().max(255), to: name })
export type RenameGroup = z.infer<typeof renameGroup>
