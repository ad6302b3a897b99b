import { blockStart, blockStop, deltaHead, deltaEnd } from './frames.ts'

export type BlockKind = 'text' | 'thinking' | 'tool'

/** The one content block that may be open, and the numbering of all. Clients report every delta against their last block. */
export function createOpenBlock() {
  let open: { kind: BlockKind; index: number; head: string } | undefined
  let nextIndex = 0
  return {
    kind: (): BlockKind | undefined => open?.kind,
    any: (): boolean => nextIndex > 0,
    /** Opens a block; whatever was open must have been closed. `delta` names the kind of its deltas and their field. */
    start(kind: BlockKind, block: object, delta: [type: string, field: string]): string {
      open = { kind, index: nextIndex, head: deltaHead(nextIndex, ...delta) }
      nextIndex += 1
      return blockStart(open.index, block)
    },
    /** A delta of the block's own kind; `json` is its value as JSON text. */
    write: (json: string): string => (open === undefined ? '' : open.head + json + deltaEnd),
    /** A delta of another kind. */
    writeOther: (type: string, field: string, value: unknown): string =>
      open === undefined ? '' : deltaHead(open.index, type, field) + JSON.stringify(value) + deltaEnd,
    stop(): string {
      const closing = open
      open = undefined
      return closing === undefined ? '' : blockStop(closing.index)
    },
    /** A block that comes whole. */
    complete(block: object): string {
      const index = nextIndex
      nextIndex += 1
      return blockStart(index, block) + blockStop(index)
    },
  }
}

export type OpenBlock = ReturnType<typeof createOpenBlock>
