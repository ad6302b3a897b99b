import { positionsInSources } from '#server/source-positions.ts'

/** What V8 writes with `--cpu-prof`; times in microseconds, lines and columns from 0. */
export type CpuProfile = {
  nodes: { id: number; callFrame: CallFrame }[]
  samples: number[]
  timeDeltas: number[]
}

type CallFrame = { functionName: string; url: string; lineNumber: number; columnNumber: number }

/** Milliseconds before the profile's end. */
type Span = { fromEndMs: number; toEndMs: number }

/** The time that each owner of code had for itself within the span, as a share of all but waiting, most first. */
export function timeByOwner(profile: CpuProfile, { fromEndMs, toEndMs }: Span): { owner: string; share: number }[] {
  const sourceOf = sourcesOf(profile)
  const ownerOf = new Map(profile.nodes.map(({ id, callFrame }) => [id, ownerOfFrame(callFrame, sourceOf)]))
  const times = new Map<string, number>()
  let beforeEnd = profile.timeDeltas.reduce((sum, delta) => sum + delta, 0)
  let busy = 0
  for (const [at, node] of profile.samples.entries()) {
    const delta = profile.timeDeltas[at] ?? 0
    beforeEnd -= delta
    const owner = ownerOf.get(node) ?? ''
    if (beforeEnd > fromEndMs * 1000 || beforeEnd < toEndMs * 1000 || owner === idle) continue
    times.set(owner, (times.get(owner) ?? 0) + delta)
    busy += delta
  }
  return [...times]
    .map(([owner, time]) => ({ owner, share: time / busy }))
    .toSorted((left, right) => right.share - left.share)
}

const idle = 'idle'
const engine: Record<string, string> = {
  '(garbage collector)': 'collecting garbage',
  '(program)': 'native code: system calls, HTTP parser',
  '(idle)': idle,
}

/** Where a frame's function stands in the sources, of those that were bundled. */
function sourcesOf({ nodes }: CpuProfile): Map<CallFrame, string> {
  const bundled = nodes.map(({ callFrame }) => callFrame).filter(({ url }) => url.startsWith('file://'))
  const found = [...Map.groupBy(bundled, ({ url }) => url)].flatMap(([url, frames]) => {
    const positions = frames.map((frame) => ({ line: frame.lineNumber + 1, column: frame.columnNumber + 1 }))
    return positionsInSources(url, positions).map((place, at) => [frames[at], place?.replace(/:\d+:\d+$/, '')] as const)
  })
  return new Map(found.filter((one): one is [CallFrame, string] => one[0] !== undefined && one[1] !== undefined))
}

/** `src/features/x/y.ts` belongs to `src/features/x`, `relay/x/y.ts` to `relay/x`, a package to itself, what has no file to V8. */
function ownerOfFrame(frame: CallFrame, sources: Map<CallFrame, string>): string {
  const ofEngine = engine[frame.functionName]
  const url = sources.get(frame) ?? frame.url
  if (ofEngine !== undefined) return ofEngine
  const ofPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  if (ofPackage !== undefined) return ofPackage
  const ofNode = /^node:(?:internal\/)?(?:_?)([a-z0-9]+)/.exec(url)?.[1]
  if (ofNode !== undefined) return `node:${ofNode}`
  const own = /\/(relay|src|db)\/((?:features\/|core\/)?[^/]+)/.exec(url)
  if (own) return `${own[1]}/${own[2]}`
  return url === '' ? 'functions of V8: JSON, texts, maps' : 'other'
}
