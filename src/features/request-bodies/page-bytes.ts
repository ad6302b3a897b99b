import type { Writable } from '#core/writable.ts'

/** What was gathered of a body. */
export type GatheredBytes = {
  readonly length: number
  /** Makes room; what is there stays where it is. */
  grow: (capacity: number) => void
  readonly capacity: number
  /** Takes a piece over, whose own memory is given back where nobody else has a part of it. */
  append: (chunk: Uint8Array) => void
  /** All of it as an ordinary buffer; any other memory is given back. */
  take: () => Buffer
  /** Gives the memory back, pages at once. */
  drop: () => void
}

/** The memory of a piece that is alone in it goes back at once. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * Gathers bytes of a known number where they stay: pages that are taken and given back again cost more than all else that is
 * done with a body. What is never written of it is never taken from the system.
 */
export function createPlainBytes(total: number): GatheredBytes {
  let bytes: Buffer | null = null
  const gathered: Writable<GatheredBytes> = {
    length: 0,
    capacity: 0,
    grow: (size) => {
      gathered.capacity = size
    },
    append: (chunk) => {
      bytes ??= Buffer.allocUnsafeSlow(total)
      bytes.set(chunk, gathered.length)
      gathered.length += chunk.byteLength
      giveBack(chunk)
    },
    take: () => {
      const filled = bytes?.subarray(0, gathered.length) ?? Buffer.alloc(0)
      gathered.drop()
      return filled
    },
    drop: () => {
      bytes = null
      gathered.length = 0
    },
  }
  return gathered
}

/**
 * Gathers bytes in pages of their own, which go back to the system the moment they are dropped. Memory of the allocator
 * that ordinary buffers come from stays with the process, in holes, long after a flood of half-sent bodies is over.
 */
export function createPageBytes(largest: number): GatheredBytes {
  const pages = new ArrayBuffer(0, { maxByteLength: largest })
  const gathered: Writable<GatheredBytes> = {
    length: 0,
    capacity: 0,
    grow: (capacity) => {
      pages.resize(capacity)
      gathered.capacity = capacity
    },
    append: (chunk) => {
      new Uint8Array(pages, gathered.length, chunk.byteLength).set(chunk)
      gathered.length += chunk.byteLength
      giveBack(chunk)
    },
    take: () => {
      const joined = Buffer.allocUnsafeSlow(gathered.length)
      joined.set(new Uint8Array(pages, 0, gathered.length))
      gathered.drop()
      return joined
    },
    drop: () => {
      gathered.length = 0
      gathered.grow(0)
    },
  }
  return gathered
}
