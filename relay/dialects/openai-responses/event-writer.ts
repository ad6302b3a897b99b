export type EventWriter = {
  event: (type: string, fields: object) => string
  /** A delta; `head` is the constant text before it, `tail` what its JSON holds after it. */
  delta: (head: string, text: string, trailing?: string) => string
}

/** Numbers the events of a stream from 0. */
export function createEventWriter(): EventWriter {
  let sequence = 0
  const numbered = (json: string): string => {
    const text = `${json},"sequence_number":${sequence}}\n\n`
    sequence += 1
    return text
  }
  return {
    event: (type, fields) => numbered(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)}`),
    delta: (head, text, trailing = '') => numbered(head + JSON.stringify(text) + trailing),
  }
}

/** Constant text of a delta event up to the delta itself. */
export const deltaHead = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`
