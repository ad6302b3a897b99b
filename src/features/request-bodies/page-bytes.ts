/** What was gathered of a body. */
export type PageBytes = {
  readonly length: number
  /** Makes room; what is there stays where it is. */
  grow: (capacity: number) => void
  readonly capacity: number
  /** Takes a piece over, whose own memory is given back where nobody else has a part of it. */
  append: (chunk: Uint8Array) => void
  /** All of it as an ordinary buffer; the pages are given back. */
  take: () => Buffer
  /** Gives the pages back at once. */
  drop: () => void
}

/**
 * Gathers bytes in pages of their own, which go back to the system the moment they are dropped. Memory of the allocator
 * that ordinary buffers come from stays with the process, in holes, long after a flood of half-sent bodies is over.
 */
export function createPageBytes(largest: number): PageBytes {
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
      const { buffer, byteLength } = chunk
      new Uint8Array(pages, length, byteLength).set(chunk)
      length += byteLength
      if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
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
