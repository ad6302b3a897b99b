import type { WireEvent } from '#relay/transport/framing.ts'
import type { ChatEvent } from './events.ts'

/** By which upstreams of OpenAI's form say that nothing follows, however many answers were asked for. */
export const isEndMark = ({ data }: WireEvent): boolean => data.startsWith('[DONE]')

/** By which Claude's dialect keeps a connection open. */
export const isPing = ({ event, data }: WireEvent): boolean =>
  event === 'ping' || (event === undefined && /^\{\s*"type"\s*:\s*"ping"/.test(data))

/** Says something to the reader; whatever else comes behind the end of an answer does not go on with it. */
export const isContent = ({ type }: ChatEvent): boolean =>
  type === 'text-delta' ||
  type === 'reasoning-delta' ||
  type === 'refusal-delta' ||
  type === 'tool-call-start' ||
  type === 'tool-call-delta' ||
  type === 'image' ||
  type === 'audio-delta'

/**
 * Which of several answers have begun, and which have ended: the end of the first is not that of all. `asked` is how many there
 * have to be, unless the upstream says itself that there are no more. `resumes`: content behind the end of an answer takes that end
 * back, for hosts that write a reason to finish into every chunk.
 */
export function createChoiceEnds(asked = 1, { resumes = false }: { resumes?: boolean | undefined } = {}) {
  const open = new Set<number>()
  const ended = new Set<number>()
  let closed = false
  let continued = false
  return {
    begin: (choice: number): void => {
      if (!ended.has(choice)) open.add(choice)
    },
    /** Content of it has come, be it behind its end. */
    write(choice: number): void {
      continued ||= this.areComplete()
      if (resumes) ended.delete(choice)
      this.begin(choice)
    },
    finish: (choice: number): void => {
      open.delete(choice)
      ended.add(choice)
    },
    note(event: ChatEvent): void {
      if (event.type === 'usage' || event.type === 'start' || event.type === 'error') return
      if (event.type === 'finish') this.finish(event.choice ?? 0)
      else if (isContent(event)) this.write(event.choice ?? 0)
      else this.begin(event.choice ?? 0)
    },
    /** The upstream came to its own end. */
    close: (): void => {
      closed = true
    },
    /** Answers that have begun and not ended. */
    open: (): number[] => [...open],
    /** How many have ended. */
    ended: (): number => ended.size,
    /** Content came when all seemed to have ended. */
    continued: (): boolean => continued,
    areComplete: (): boolean => ended.size > 0 && open.size === 0 && (closed || ended.size >= asked),
  }
}
