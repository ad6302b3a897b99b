import { z } from 'zod'

export const bySessionId = z.object({ id: z.uuid() })
