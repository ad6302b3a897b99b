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
  let length = 0
  let capacity = 0
  const drop = (): void => {
    bytes = null
    length = 0
  }
  return {
    get length() {
      return length
    },
    get capacity() {
      return capacity
    },
    grow: (size) => {
      capacity = size
    },
    append: (chunk) => {
      bytes ??= Buffer.allocUnsafeSlow(total)
      bytes.set(chunk, length)
      length += chunk.byteLength
      giveBack(chunk)
    },
    take: () => {
      const filled = bytes?.subarray(0, length) ?? Buffer.alloc(0)
      drop()
      return filled
    },
    drop,
  }
}

/**
 * Gathers bytes in pages of their own, which go back to the system the moment they are dropped. Memory of the allocator
 * that ordinary buffers come from stays with the process, in holes, long after a flood of half-sent bodies is over.
 */
export function createPageBytes(largest: number): GatheredBytes {
  const pages = new ArrayBuffer(0, { maxByteLength: largest })
  let length = 0
  const drop = (): void => {
    length = 0
    pages.resize(0)
  }
  return {
    get length() {
      return length
    },
    get capacity() {
      return pages.byteLength
    },
    grow: (capacity) => pages.resize(capacity),
    append: (chunk) => {
      new Uint8Array(pages, length, chunk.byteLength).set(chunk)
      length += chunk.byteLength
      giveBack(chunk)
    },
    take: () => {
      const joined = Buffer.allocUnsafeSlow(length)
      joined.set(new Uint8Array(pages, 0, length))
      drop()
      return joined
    },
    drop,
  }
}
