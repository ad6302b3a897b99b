import { compare } from '../measure.ts'
import { fixed, printTable, type Verdict } from '../report.ts'
import type { Bench } from './bench.ts'

/** Events of a stream of either scenario. */
const eventsOfStream = 200

const ways = [
  { scenario: 'ticking', way: 'passed through', bar: 1.5, goal: 1.25 },
  { scenario: 'translated', way: 'translated', bar: 3, goal: 2 },
] as const

/** What one event of a stream costs that comes alone, as models send them: beside the bare pass-through, in one run. */
export async function events({ installation, options, gateway, passThrough }: Bench): Promise<Verdict[]> {
  const pace = { kind: 'closed' as const, connections: 64, seconds: options.seconds }
  const verdicts: Verdict[] = []
  const rows: string[][] = []
  for (const { scenario, way, bar, goal } of ways) {
    const seen = await compare(installation, [passThrough, gateway], { scenario, pace, trials: options.trials })
    // A thousand answers cost so many seconds; a microsecond is a millionth of one.
    const microseconds = (name: 'pass-through' | 'gateway') => (seen[name].cpu.target * 1000) / eventsOfStream
    const [bare, ours] = [microseconds('pass-through'), microseconds('gateway')]
    rows.push([way, fixed(bare, 1), fixed(ours, 1), fixed(ours / bare, 2)])
    verdicts.push({
      what: `CPU per streamed event, ${way}`,
      bare: `${fixed(bare, 1)} µs`,
      gateway: `${fixed(ours, 1)} µs`,
      value: ours / bare,
      shown: fixed(ours / bare, 2),
      bar,
      goal,
      unit: '',
      better: 'less',
    })
  }
  printTable(
    'CPU of one streamed event, 5 ms between events, 64 streams, µs',
    ['way', 'bare', 'gateway', 'ratio'],
    rows,
  )
  return verdicts
}
