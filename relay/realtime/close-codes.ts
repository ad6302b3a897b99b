import { WebSocket } from 'ws'

export type CloseWord = { code: number; reason: string }

/** A close without a code, and a connection that was lost. */
const noStatus = 1005
export const lost = 1006

/** Codes that may be written into a close frame; the others only describe what happened. */
const maySay = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, noStatus, lost].includes(code)) || (code >= 3000 && code <= 4999)

/** A reason has 123 bytes at most; whole characters of them. */
function fitting(reason: string): string {
  let text = reason
  while (Buffer.byteLength(text) > 123) text = [...text].slice(0, -1).join('')
  return text
}

/** Closes with the word given, and without the other side's consent after a while. */
export function closeSocket(socket: WebSocket, { code, reason }: CloseWord, graceMs: number): void {
  if (socket.readyState === WebSocket.CLOSED) return
  if (code === lost) return socket.terminate()
  // One who is paused would never read the other's consent.
  socket.resume()
  if (maySay(code)) socket.close(code, fitting(reason))
  else socket.close()
  const end = setTimeout(() => socket.terminate(), graceMs)
  socket.once('close', () => clearTimeout(end))
}
