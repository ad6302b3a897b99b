import type { WireEvent } from '#relay/transport/framing.ts'
import type { ChatEvent } from './events.ts'

/** By which upstreams of OpenAI's form say that nothing follows, however many answers were asked for. */
export const isEndMark = ({ data }: WireEvent): boolean => data.startsWith('[DONE]')

/**
 * Which of several answers have begun, and which have ended: the end of the first is not that of all. `asked` is how many there
 * have to be, unless the upstream says itself that there are no more.
 */
export function createChoiceEnds(asked = 1) {
  const open = new Set<number>()
  const ended = new Set<number>()
  let closed = false
  return {
    begin: (choice: number): void => {
      if (!ended.has(choice)) open.add(choice)
    },
    finish: (choice: number): void => {
      open.delete(choice)
      ended.add(choice)
    },
    note(event: ChatEvent): void {
      if (event.type === 'usage' || event.type === 'start' || event.type === 'error') return
      if (event.type === 'finish') this.finish(event.choice ?? 0)
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
    areComplete: (): boolean => ended.size > 0 && open.size === 0 && (closed || ended.size >= asked),
  }
}
