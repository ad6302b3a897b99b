/** Elements that are looked into; all others are read or passed over. Google's and browsers' files leave the sizes of these open. */
const containers = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0])

const idOf = {
  header: 0x1a45dfa3,
  timecodeScale: 0x2ad7b1,
  duration: 0x4489,
  timecode: 0xe7,
  simpleBlock: 0xa3,
  block: 0xa1,
  blockDuration: 0x9b,
} as const

const readIds = new Set<number>(Object.values(idOf))

/** A number of EBML: how many bytes it takes stands in its first. `marked`: with that bit, as ids are written. */
function numberAt(bytes: Uint8Array, at: number, marked: boolean): { value: number; length: number } | undefined {
  const first = bytes[at]
  if (first === undefined || first === 0) return undefined
  const length = Math.clz32(first) - 23
  if (at + length > bytes.length) return undefined
  let value = marked ? first : first & (0xff >> length)
  for (let offset = 1; offset < length; offset += 1) value = value * 256 + (bytes[at + offset] ?? 0)
  return { value, length }
}

function unsigned(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes.subarray(0, 8)) value = value * 256 + byte
  return value
}

function float(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return bytes.length === 8 ? view.getFloat64(0) : bytes.length === 4 ? view.getFloat32(0) : 0
}

/**
 * How many seconds a WebM or Matroska file plays: as it states, or as its blocks show, whichever is longer; recordings of
 * browsers state nothing. Looks at each element once. Nothing for another file, or where no block stands in it.
 */
export function webmSeconds(bytes: Uint8Array): number | undefined {
  if (numberAt(bytes, 0, true)?.value !== idOf.header) return undefined
  let scale = 1_000_000
  let stated = 0
  let cluster = 0
  let last = 0
  let before = 0
  /** When the block begins that was read last. */
  let block = 0
  /** When the last of those blocks ends that say how long they play. */
  let ends = 0
  const reach = (time: number): void => {
    if (time <= last) return
    before = last
    last = time
  }
  for (let at = 0; at < bytes.length;) {
    const id = numberAt(bytes, at, true)
    const size = id && numberAt(bytes, at + id.length, false)
    if (!id || !size) break
    const start = at + id.length + size.length
    if (containers.has(id.value)) {
      at = start
      continue
    }
    if (!readIds.has(id.value)) {
      at = start + size.value
      continue
    }
    const content = bytes.subarray(start, start + size.value)
    switch (id.value) {
      case idOf.timecodeScale:
        scale = unsigned(content) || scale
        break
      case idOf.duration:
        stated = float(content)
        break
      case idOf.timecode:
        cluster = unsigned(content)
        reach(cluster)
        break
      case idOf.simpleBlock:
      case idOf.block: {
        const track = numberAt(content, 0, false)?.length ?? 1
        const relative = ((content[track] ?? 0) << 8) | (content[track + 1] ?? 0)
        block = cluster + (relative > 0x7fff ? relative - 0x10000 : relative)
        reach(block)
        break
      }
      case idOf.blockDuration:
        ends = Math.max(ends, block + unsigned(content))
        break
      default:
    }
    at = start + size.value
  }
  // The last block plays about as long as the one before it.
  const shown = last === 0 ? 0 : last + Math.min(last - before, 1_000_000_000 / scale)
  const seconds = (Math.max(stated, ends, shown) * scale) / 1_000_000_000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}
