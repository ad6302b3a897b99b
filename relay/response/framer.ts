import type { WireEvent } from '#relay/transport/framing.ts'

/** An event as it goes over the wire, with plain line ends. */
function wireText({ event, data }: WireEvent): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return event ? `event: ${event}\ndata: ${lines}\n\n` : `data: ${lines}\n\n`
}

/** How native events are written to the caller. */
export type Framer = {
  frame: (event: WireEvent) => string
  close: () => string
  /** Ends the answer with an error that the dialect has already put in words. */
  fail: (error: { event: string; body: unknown }) => string
}

export const eventFramer: Framer = { frame: wireText, close: () => '', fail: ({ event }) => event }

/** The JSON array that a Gemini caller without `alt=sse` reads. */
export function createArrayFramer(): Framer {
  let first = true
  return {
    frame: ({ data }) => {
      const lead = first ? '[' : ',\n'
      first = false
      return lead + data
    },
    close: () => (first ? '[]' : ']'),
    fail: ({ body }) => `${first ? '[' : ',\n'}${JSON.stringify(body)}]`,
  }
}
