import type { Installation } from '../installation.ts'
import { pin } from '../machine.ts'
import { compare, measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { printLoad } from './throughput.ts'
import { fixed, printTable } from '../report.ts'

/** The product with as many workers as it starts by itself, nothing bound to a core, beside as many bare ones. */
export async function workers(installation: Installation, options: Options): Promise<void> {
  const { workers: count, warmUpSeconds } = options
  const others = [installation.databasePid, installation.upstream.pid, installation.generator.pid]
  for (const pid of others) pin(pid, 'anywhere')
  const gateway = await installation.gateway({ workers: count })
  const passThrough = await installation.passThrough(count)
  const pace = { kind: 'closed' as const, connections: 256, seconds: options.seconds }
  for (const target of [gateway, passThrough]) {
    await measure(installation, target, { scenario: 'plain', pace: { ...pace, seconds: warmUpSeconds } })
  }
  const seen = await compare(installation, [passThrough, gateway], { scenario: 'plain', pace, trials: options.trials })
  printLoad(`Throughput with ${count} workers, 256 connections, nothing bound to a core`, seen)
  printTable(
    'Memory of all workers together, MB',
    ['target', 'under load'],
    [
      ['pass-through', fixed(seen['pass-through'].residentMb)],
      ['gateway', fixed(seen.gateway.residentMb)],
    ],
  )
  await gateway.stop()
  await passThrough.stop()
  for (const pid of others) pin(pid, 'rest')
}
