/** Slower than this is no connection that anybody works over. */
const leastBytesPerSecond = 240

/** How often within the allowed time one looks. */
const looks = 3

type Pace = {
  /** Time in which we ourselves do not read does not count. */
  waits: () => boolean
  onSlow: () => void
  /** Bytes that may come in all. */
  most?: number
  onMost?: () => void
}

/**
 * Watches how fast a body arrives, by the bytes of its connection. A body may take as long as it likes in all, but not bring
 * next to nothing for `idleMs`.
 */
export function watchPace(
  { socket }: { socket: { readonly bytesRead: number } },
  idleMs: number,
  pace: Pace,
): () => void {
  const least = (leastBytesPerSecond * idleMs) / 1000
  const first = socket.bytesRead
  let marks = [first]
  const timer = setInterval(() => {
    const read = socket.bytesRead
    if (pace.waits()) {
      marks = [read]
      return
    }
    if (pace.most !== undefined && read - first > pace.most) pace.onMost?.()
    marks.push(read)
    if (marks.length <= looks) return
    const before = marks.shift() ?? 0
    if (read - before < least) pace.onSlow()
  }, idleMs / looks)
  return () => clearInterval(timer)
}
