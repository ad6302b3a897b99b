import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { type CpuProfile, timeByOwner } from '../cpu-profile.ts'
import type { Installation } from '../installation.ts'
import { measure } from '../measure.ts'
import type { Options } from '../options.ts'
import { fixed, printTable } from '../report.ts'

const mostRows = 16

/** What the processor time of a small call is spent on: what bounds the throughput where the gateway's core is full. */
export async function profile(installation: Installation, options: Options): Promise<void> {
  const folder = options.profile ?? mkdtempSync(join(tmpdir(), 'bench-profile-'))
  mkdirSync(folder, { recursive: true })
  const known = new Set(readdirSync(folder))
  const gateway = await installation.gateway({ node: ['--cpu-prof', `--cpu-prof-dir=${folder}`] })
  const pace = { kind: 'closed' as const, connections: 32, seconds: options.warmUpSeconds }
  await measure(installation, gateway, { scenario: 'plain', pace })
  const from = performance.now()
  const seen = await measure(installation, gateway, { scenario: 'plain', pace: { ...pace, seconds: options.seconds } })
  const to = performance.now()
  await gateway.stop()
  const end = performance.now()
  // The largest is that of the process that serves; what loads it is another.
  const [found] = readdirSync(folder)
    .filter((name) => !known.has(name) && name.endsWith('.cpuprofile'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .toSorted((left, right) => right.length - left.length)
  if (options.profile === undefined) rmSync(folder, { recursive: true })
  if (found === undefined) return
  const owners = timeByOwner(JSON.parse(found) as CpuProfile, { fromEndMs: end - from, toEndMs: end - to })
  const perCall = seen.cpu.target * 1000
  printTable(
    `Where the time of a small call goes, 32 connections: ${fixed(perCall)} µs of processor time while being profiled`,
    ['what', '%', 'µs'],
    owners.slice(0, mostRows).map(({ owner, share }) => [owner, fixed(share * 100, 1), fixed(share * perCall)]),
  )
}
