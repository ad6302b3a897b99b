import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// What serves is bundled (scripts/bundle-server.ts), and a map beside each file says which line of which source each of its lines was.
// Read only where an error is written down: Node's own reader of maps keeps ten times their size.

/** A line and a column of a file, both from 1, as in a stack. */
export type Position = { line: number; column: number }

type SourceMap = { sources: string[]; mappings: string }

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const valueOf = new Map([...digits].map((digit, value) => [digit.charCodeAt(0), value]))
const lineEnd = ';'.charCodeAt(0)
const ends = new Set([lineEnd, ','.charCodeAt(0)])

/**
 * Where positions of a bundled file stand in the sources, as `file:///…/service.ts:12:3`, in one pass over its map (the format of
 * https://tc39.es/ecma426/); undefined where no map says it.
 */
export function positionsInSources(file: string, positions: readonly Position[]): (string | undefined)[] {
  const map = readMap(file)
  const found = positions.map(() => undefined as string | undefined)
  if (!map) return found
  const { sources, mappings } = map
  const last = Math.max(...positions.map(({ line }) => line))
  const wanted = Map.groupBy(positions.keys(), (index) => positions[index]?.line ?? 0)
  let at = 0
  /** The next number: five bits a letter, the least first, its sign in the lowest. */
  const number = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 5) {
      const digit = valueOf.get(mappings.charCodeAt(at)) ?? 0
      at += 1
      value |= (digit & 31) << shift
      if ((digit & 32) === 0) return value & 1 ? -(value >> 1) : value >> 1
    }
  }
  const isSegmentEnd = (): boolean => at >= mappings.length || ends.has(mappings.charCodeAt(at))
  let [generatedLine, generatedColumn, source, line, column] = [1, 0, 0, 0, 0]
  for (; at < mappings.length && generatedLine <= last; at += 1) {
    if (!isSegmentEnd()) generatedColumn += number()
    // What stands only in the bundle has no source.
    if (!isSegmentEnd()) {
      source += number()
      line += number()
      column += number()
      if (!isSegmentEnd()) number()
      for (const index of wanted.get(generatedLine) ?? [])
        if (generatedColumn < (positions[index]?.column ?? 0))
          found[index] = `${new URL(sources[source] ?? '', file).href}:${line + 1}:${column + 1}`
    }
    if (mappings.charCodeAt(at) !== lineEnd) continue
    generatedLine += 1
    generatedColumn = 0
  }
  return found
}

function readMap(file: string): SourceMap | undefined {
  try {
    return JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMap
  } catch {
    // A source itself, or a package's file.
    return undefined
  }
}

/** What failed once fails a thousand times: the frames of many errors. */
const known = new Map<string, string>()
const mostKnown = 5000

/** A stack whose lines name the sources. Lines that no map knows stay as they are. */
export function inSources(stack: string): string {
  const lines = stack.split('\n').map((text) => ({ text, frame: frameOf(text) }))
  if (known.size > mostKnown) known.clear()
  const unknown = lines.flatMap(({ frame }) => (frame && !known.has(frame.place) ? [frame] : []))
  for (const [file, frames] of Map.groupBy(unknown, ({ file }) => file)) {
    const found = positionsInSources(file, frames)
    for (const [at, { place }] of frames.entries()) known.set(place, found[at] ?? place)
  }
  return lines
    .map(({ text, frame }) => (frame ? text.replace(frame.place, () => known.get(frame.place) ?? frame.place) : text))
    .join('\n')
}

/** `at settle (file:///app/dist/server/…/serve.js:12:3)`, with or without the function. */
function frameOf(text: string): (Position & { file: string; place: string }) | undefined {
  const start = text.trimStart().startsWith('at ') ? text.indexOf('file:///') : -1
  if (start < 0) return undefined
  const place = text.slice(start, text.endsWith(')') ? -1 : undefined)
  const [column, line, ...rest] = place.split(':').toReversed()
  const file = rest.toReversed().join(':')
  if (!file.endsWith('.js') || !(Number(line) > 0) || !(Number(column) > 0)) return undefined
  return { file, place, line: Number(line), column: Number(column) }
}
