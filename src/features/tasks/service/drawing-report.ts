import { z } from 'zod'

const word = z.string().catch('')
const instant = z.coerce.number().catch(0)

/** One task as a drawing service reports it. */
const report = z.object({
  id: z.union([z.string(), z.number().transform(String)]),
  status: word,
  progress: z.union([z.string(), z.number().transform((percent) => `${percent}%`)]).catch(''),
  prompt: word,
  promptEn: word,
  state: word,
  description: word,
  submitTime: instant,
  startTime: instant,
  finishTime: instant,
  imageUrl: word,
  videoUrl: word,
  videoUrls: z.array(z.unknown()).nullish().catch(null),
  failReason: word,
  buttons: z.array(z.unknown()).nullish().catch(null),
  properties: z.record(z.string(), z.unknown()).nullish().catch(null),
})
export type DrawingReport = z.infer<typeof report>

/** The tasks of an answer that can be read; the rest is left out. */
export function readDrawingReports(json: unknown): DrawingReport[] {
  if (!Array.isArray(json)) throw new Error('the upstream did not answer with a list of tasks')
  return json.flatMap((item: unknown) => {
    const read = report.safeParse(item)
    return read.success ? [read.data] : []
  })
}

/** Milliseconds since 1970, seconds where a service counts so; null for none. */
export const instantOf = (value: number): Date | null =>
  value > 0 && value < 1e14 ? new Date(value < 1e11 ? value * 1000 : value) : null
