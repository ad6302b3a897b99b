/** Sound on its way to its text: how long it is, what was written of it, and when it was handed in (`performance.now()`). */
export type Piece = { seconds: number; textTokens: number; at: number }

const emptyPiece = (at: number): Piece => ({ seconds: 0, textTokens: 0, at })

/**
 * The sound of a session that only transcribes, in seconds from its beginning, until it is known what its text costs. It is handed in
 * piece by piece: by the caller, or by an upstream that listens for pauses, and leaves out what lies between.
 */
export function createPendingAudio(now: () => number) {
  let sent = 0
  /** Up to here all was handed in, or left out. */
  let from = 0
  /** Where the caller has handed in or left out what came before, and the upstream has not said so. */
  let marks: number[] = []
  let leavesOutPauses = false
  let speech: { from: number; to: number | undefined } | null = null
  /** Some models write before anything was handed in. */
  let early: { item: string; textTokens: number } | null = null
  const pieces = new Map<string, Piece>()

  const within = (at: number | undefined, usual: number): number => Math.min(sent, Math.max(from, at ?? usual))
  const open = (): number => {
    if (leavesOutPauses && !speech && !early) return 0
    return (speech?.to ?? sent) - Math.max(from, speech?.from ?? from)
  }
  /** Where the piece ends that the upstream means. */
  const nextMark = (): number => {
    // Between two marks at one place there is no piece.
    while (marks[0] !== undefined && marks[0] <= from) marks.shift()
    return Math.min(sent, speech?.to ?? marks.shift() ?? sent)
  }
  const goOnAt = (to: number): void => {
    from = to
    speech = null
    early = null
  }
  const handIn = (item: string): Piece => {
    const to = nextMark()
    const seconds = Math.max(0, to - Math.max(from, speech?.from ?? from))
    const added = { seconds, textTokens: early?.textTokens ?? 0, at: now() }
    // Not every upstream names them.
    const piece = sumOf([added, ...(pieces.has(item) ? [pieces.get(item) as Piece] : [])], now())
    pieces.set(item, piece)
    goOnAt(to)
    return piece
  }

  return {
    /** Returns what says that it was not sent. */
    add: (seconds: number): (() => void) => {
      sent += seconds
      return () => {
        sent -= seconds
      }
    },
    /** The caller hands in or leaves out what it has sent. Returns what says that it does not. */
    mark: (): (() => void) => {
      const at = sent
      marks.push(at)
      return () => {
        marks = marks.filter((one) => one !== at)
      }
    },
    /** The upstream refuses to take what it was handed. */
    dropMark: (): void => void marks.shift(),
    /** Whether the upstream listens for pauses. */
    setPauses: (isLeftOut: boolean): void => {
      leavesOutPauses = isLeftOut
    },
    beginSpeech: (at: number | undefined): void => {
      speech = { from: within(at, sent), to: undefined }
    },
    endSpeech: (at: number | undefined): void => {
      if (speech) speech.to = within(at, sent)
    },
    handIn: (item: string): void => void handIn(item),
    /** The upstream has left out what was not handed in; what it has written of that is paid all the same. */
    leaveOut: (): void => {
      if (early) handIn(early.item)
      else goOnAt(nextMark())
    },
    write: (item: string, textTokens: number): void => {
      const piece = pieces.get(item)
      if (piece) piece.textTokens += textTokens
      else early = { item, textTokens: (early?.textTokens ?? 0) + textTokens }
    },
    /** The piece whose text is complete, or never will be. Not every upstream says that one was handed in. */
    take: (item: string): Piece => {
      const piece = pieces.get(item) ?? handIn(item)
      pieces.delete(item)
      return piece
    },
    /** Everything that was sent and not left out; when it is over, only what the upstream has begun to write, unless it is `all`. */
    takeRest: ({ all }: { all: boolean }): Piece => {
      if (all || early) handIn(early?.item ?? '')
      const rest = [...pieces.values()].filter(({ textTokens }) => all || textTokens > 0)
      pieces.clear()
      goOnAt(sent)
      return sumOf(rest, now())
    },
    get unpaid(): Piece {
      return sumOf(
        [...pieces.values(), { seconds: Math.max(0, open()), textTokens: early?.textTokens ?? 0, at: now() }],
        now(),
      )
    },
  }
}

const sumOf = (pieces: readonly Piece[], at: number): Piece =>
  pieces.reduce(
    (sum, piece) => ({
      seconds: sum.seconds + piece.seconds,
      textTokens: sum.textTokens + piece.textTokens,
      at: Math.min(sum.at, piece.at),
    }),
    emptyPiece(at),
  )
