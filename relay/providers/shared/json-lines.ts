import { MalformedUpstream } from '#relay/chat/events.ts'
import type { FrameReader } from '#relay/transport/framing.ts'

/** Text without a line end that is put up with. */
const longestLine = 10 * 1_048_576

/** One JSON value a line, wherever the chunks end; a last line may lack its end. Blank lines keep connections alive. */
export function createJsonLineReader(): FrameReader {
  const decoder = new TextDecoder()
  let rest = ''
  const eventsOf = (lines: string[]) => lines.flatMap((line) => (line.trim() === '' ? [] : [{ data: line.trim() }]))
  return {
    push(chunk) {
      rest += decoder.decode(chunk, { stream: true })
      const end = rest.lastIndexOf('\n')
      if (end < 0) {
        if (rest.length > longestLine) throw new MalformedUpstream('the upstream sent a line without an end')
        return []
      }
      const lines = rest.slice(0, end).split('\n')
      rest = rest.slice(end + 1)
      return eventsOf(lines)
    },
    end() {
      const last = rest + decoder.decode()
      rest = ''
      return eventsOf([last])
    },
  }
}
