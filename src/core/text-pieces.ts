const piecesOfBlock = 1024

/** Text that comes in pieces: each is kept as it is until all are joined, however many of them there are. */
export function createTextPieces() {
  let pieces: string[] = []
  /** Many small pieces, joined. */
  let blocks: string[] = []
  let length = 0
  return {
    keep(piece: string): void {
      if (piece === '') return
      pieces.push(piece)
      length += piece.length
      if (pieces.length < piecesOfBlock) return
      blocks.push(pieces.join(''))
      pieces = []
    },
    length: (): number => length,
    /** What was kept, and `last` behind it; nothing of it is kept any longer. */
    take(last = ''): string {
      if (length === 0) return last
      const text = blocks.join('') + pieces.join('') + last
      blocks = []
      pieces = []
      length = 0
      return text
    },
  }
}
