import { z } from 'zod'

const word = z.string().catch('')
const instant = z.coerce.number().catch(0)

/** One job as a platform reports it. */
const report = z.object({
  task_id: z.union([z.string(), z.number().transform(String)]),
  status: word,
  fail_reason: word,
  submit_time: instant,
  start_time: instant,
  finish_time: instant,
  data: z.unknown().optional(),
})
export type MusicReport = z.infer<typeof report>

const answer = z.object({ code: z.unknown().optional(), data: z.array(z.unknown()) })

/** The jobs of an answer that can be read; the rest is left out. */
export function readMusicReports(json: unknown): MusicReport[] {
  const { code, data } = answer.parse(json)
  if (code !== 'success' && code !== undefined) throw new Error('the upstream refused to report')
  return data.flatMap((item) => {
    const read = report.safeParse(item)
    return read.success ? [read.data] : []
  })
}
