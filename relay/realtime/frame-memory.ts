import { DomainError } from '#core/errors.ts'
import { weighJson } from '#core/json-weight.ts'
import type { Holding } from '#features/request-bodies/budget.ts'
import { watchPace } from '#features/request-bodies/pace.ts'
import type { Bodies } from '#features/request-bodies/service.ts'

/** Up to here a side's frames cost nothing: the usual ones, text and short pieces of audio. */
const freeBytes = 128 * 1024
/** More is taken in steps, so that one asks seldom. */
const step = 256 * 1024
/** The frame itself, and the text it is read as. */
const copies = 2

const held = (bytes: number): number => Math.ceil((bytes * copies) / step) * step

/** What the frames of one side may take of the memory for bodies. */
export type FrameMemory = {
  /**
   * So many bytes are here now. Nothing where there is room, else a promise that waits for it.
   * @throws {DomainError} input.no_room, input.address_full: by the promise, when there was none in time
   */
  hold: (bytes: number) => Promise<void> | undefined
  /** Only so many are left. */
  lower: (bytes: number) => void
  /** Holds what the value of a frame that is to be read will take too. @throws {DomainError} as `hold`, input.unreadable */
  holdValue: (frame: Buffer, bytes: number) => Promise<void> | undefined
  /** Watches that a frame goes on arriving while `waits` does not say otherwise. Returns what ends it. */
  watch: (
    connection: { readonly bytesRead: number },
    waits: () => boolean,
    onSlow: (error: unknown) => void,
  ) => () => void
  /** Gives everything back, for good. */
  end: () => void
}

/** Frames count against the same memory as the bodies of requests of that address; up to `free` bytes at once cost nothing. */
export function createFrameMemory({ budget, limits }: Bodies, address: string, free = freeBytes): FrameMemory {
  let holding: Holding | null = null
  let ended = false
  const release = (): void => {
    holding?.release()
    holding = null
  }
  const hold = (bytes: number): Promise<void> | undefined => {
    if (ended) return undefined
    if (bytes <= free) {
      release()
      return undefined
    }
    holding ??= budget.open(address)
    return holding.raise(held(bytes))
  }

  return {
    hold,
    lower: (bytes) => holding?.lower(held(bytes)),
    holdValue: (frame, bytes) => {
      if (frame.length <= freeBytes) return undefined
      const { problem, bytes: weight } = weighJson(frame)
      if (problem) throw new DomainError('input.unreadable', {}, { cause: new Error(problem) })
      return hold(bytes + weight)
    },
    watch: (socket, waits, onSlow) =>
      watchPace({ socket }, limits.idleMs, { waits, onSlow: () => onSlow(new DomainError('input.too_slow')) }),
    end: () => {
      ended = true
      release()
    },
  }
}
