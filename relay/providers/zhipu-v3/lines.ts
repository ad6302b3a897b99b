import type { WireEvent } from '#relay/transport/framing.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import type { FrameReader } from '#relay/transport/framing.ts'

const longestEvent = 10 * 1_048_576

/** Server-sent events with a field of their own, `meta`, which takes the place of the data where it stands. */
export function createMetaReader(): FrameReader {
  const decoder = new TextDecoder()
  let rest = ''
  let event: string | undefined
  let data: string[] = []
  let meta: string | undefined

  function readLine(line: string): WireEvent[] {
    const at = line.indexOf(':')
    const name = line.slice(0, at)
    const value = line.slice(at + 1)
    if (name === 'event') event = value.trim()
    // Blanks belong to the text: the vendor puts none of its own before it.
    if (name === 'data') data.push(value)
    if (name === 'meta') meta = value.trim()
    if (line !== '' || (event === undefined && data.length === 0 && meta === undefined)) return []
    const complete: WireEvent = { ...(event === undefined ? {} : { event }), data: meta ?? data.join('\n') }
    event = undefined
    data = []
    meta = undefined
    return [complete]
  }

  function read(text: string): WireEvent[] {
    rest += text
    const lines = rest.split(/\r?\n/)
    rest = lines.pop() ?? ''
    if (rest.length > longestEvent) throw new MalformedUpstream('the upstream sent a line without an end')
    return lines.flatMap(readLine)
  }

  return {
    push: (chunk) => read(decoder.decode(chunk, { stream: true })),
    end: () => read(`${decoder.decode()}\n\n`),
  }
}
