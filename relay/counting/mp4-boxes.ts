import { viewOf } from './view-of.ts'

/** What stands in a box. */
export type Box = { name: string; from: number; to: number }

/** Boxes that hold others, of which some are read. */
const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'mvex', 'moof', 'traf', 'wave'])

/** Boxes of the forms that sound has, in which others begin behind a description of so many bytes by its version. */
const entryHeads = [28, 44, 64]

const deepest = 12

export const nameAt = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0)

/** Numbers of a file, which are 0 behind its end. */
export function numbersOf(bytes: Uint8Array) {
  const view = viewOf(bytes)
  const u16 = (at: number): number => (at >= 0 && at + 2 <= bytes.length ? view.getUint16(at) : 0)
  const u32 = (at: number): number => (at >= 0 && at + 4 <= bytes.length ? view.getUint32(at) : 0)
  const u64 = (at: number): number => u32(at) * 2 ** 32 + u32(at + 4)
  const f64 = (at: number): number => (at >= 0 && at + 8 <= bytes.length ? view.getFloat64(at) : 0)
  return { u16, u32, u64, f64, i32: (at: number): number => u32(at) | 0 }
}

export type Numbers = ReturnType<typeof numbersOf>

/** Shows each box of a file, those that hold others before what is in them. None reaches beyond the one that it stands in. */
export function eachBox(bytes: Uint8Array, { u16, u32, u64 }: Numbers, see: (box: Box) => void): void {
  const around: { name: string; to: number }[] = []
  for (let at = 0; at + 8 <= bytes.length;) {
    while (around.length > 0 && at >= (around.at(-1)?.to ?? 0)) around.pop()
    const { name: parent, to: limit } = around.at(-1) ?? { name: '', to: bytes.length }
    const stated = u32(at)
    const from = at + (stated === 1 ? 16 : 8)
    const length = stated === 0 ? limit - at : stated === 1 ? u64(at + 8) : stated
    const to = Math.min(limit, at + length)
    if (to < from) {
      // Nothing that follows in there can be found.
      at = limit
      continue
    }
    const name = nameAt(bytes, at + 4)
    see({ name: parent === 'stsd' ? 'entry' : name, from: parent === 'stsd' ? at : from, to })
    const isEntry = parent === 'stsd'
    const inner = isEntry ? from + (entryHeads[u16(from + 8)] ?? 28) : from + (name === 'stsd' ? 8 : 0)
    const isOpen = (isEntry || containers.has(name)) && around.length < deepest && inner < to
    if (isOpen) around.push({ name: isEntry ? 'entry' : name, to })
    at = isOpen ? inner : to
  }
}
