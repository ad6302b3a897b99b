import { z } from 'zod'

export const byJobName = z.object({ name: z.string().min(1).max(100) })
