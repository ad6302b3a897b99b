import type { WebSocket } from 'ws'

/** How often each side is asked whether it is still there. */
export const heartbeatMs = 30_000

/**
 * Asks a side for a sign of life and ends a connection that gave none between two questions. One that we keep from being
 * read cannot answer and is left in peace. Returns what ends the watch.
 */
export function watchHeartbeat(socket: WebSocket, { everyMs, isPaused }: { everyMs: number; isPaused: () => boolean }) {
  let alive = true
  const live = (): void => void (alive = true)
  for (const event of ['pong', 'ping', 'message'] as const) socket.on(event, live)
  const timer = setInterval(() => {
    if (!alive && !isPaused()) return socket.terminate()
    alive = false
    socket.ping(() => {})
  }, everyMs)
  return () => clearInterval(timer)
}
