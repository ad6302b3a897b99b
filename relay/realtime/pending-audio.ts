import { transcriptionUsage } from '#core/pricing/audio-files.ts'

type Part = { seconds: number; textTokens: number }

/** Sound on its way to its text: how long it is, what was written of it, and when it was handed in (`performance.now()`). */
export type Piece = Part & {
  at: number
  /** What came before it of the same piece, and was paid by itself. */
  paid: Part
}

/** Where the caller has handed in or left out what came before, and the upstream has not said so. */
type Mark = { at: number; name: string | undefined; handsIn: boolean }

/** Those at one place are of no piece, and nothing else limits them. */
const mostMarks = 100

/** Sound that is written before it is handed in is paid once so much has come together. */
const longestWritten = 30

const nothing: Part = { seconds: 0, textTokens: 0 }

/** What a piece may come to: as of recordings, all of its length is held as sound, which leaves room for its text. */
const foreseen = (seconds: number): number => (seconds > 0 ? transcriptionUsage(seconds).promptTokens : 0)

/**
 * The sound of a session that only transcribes, in seconds from its beginning, until it is known what its text costs. It is handed in
 * piece by piece: by the caller, or by an upstream that listens for pauses, and leaves out what lies between.
 */
export function createPendingAudio(now: () => number) {
  let sent = 0
  /** Up to here all was handed in, left out or paid. */
  let from = 0
  let marks: Mark[] = []
  let leavesOutPauses = false
  let speech: { from: number; to: number | undefined } | null = null
  /** Some models write before anything was handed in. */
  let early: { item: string; textTokens: number } | null = null
  let paid = nothing
  const pieces = new Map<string, Piece>()
  /** Of all pieces: nobody adds them up with every sound. */
  const handedIn = { tokens: 0, textTokens: 0 }

  const within = (at: number | undefined, usual: number): number => Math.min(sent, Math.max(from, at ?? usual))
  const beginning = (): number => Math.max(from, speech?.from ?? from)
  /** What is to be handed in, piece by piece: each up to a mark, and what came since. */
  const open = (): number[] => {
    const lengths: number[] = []
    let begun = beginning()
    const endAt = (at: number, isLeftOut = false): void => {
      if (at <= begun) return
      if (!isLeftOut) lengths.push(at - begun)
      begun = at
    }
    if (speech?.to !== undefined) endAt(speech.to)
    const isPause = leavesOutPauses && (speech ? speech.to !== undefined : !early)
    for (const { at, handsIn } of marks) endAt(Math.min(at, sent), isPause && !handsIn)
    endAt(sent, isPause)
    return lengths
  }
  /** Where the piece ends that the upstream means. */
  const nextMark = (): number => {
    // Between two marks at one place there is no piece.
    while (marks[0] !== undefined && marks[0].at <= from) marks.shift()
    return Math.min(sent, speech?.to ?? marks.shift()?.at ?? sent)
  }
  const goOnAt = (to: number): void => {
    from = to
    speech = null
    early = null
    paid = nothing
  }
  const remove = (item: string): Piece | undefined => {
    const piece = pieces.get(item)
    if (!piece) return undefined
    pieces.delete(item)
    handedIn.tokens -= foreseen(piece.seconds)
    handedIn.textTokens -= piece.textTokens
    return piece
  }
  const handIn = (item: string): void => {
    const to = nextMark()
    const seconds = Math.max(0, to - beginning())
    const added = { seconds, textTokens: early?.textTokens ?? 0, at: now(), paid }
    // Not every upstream names them.
    const piece = joined(remove(item), added)
    pieces.set(item, piece)
    handedIn.tokens += foreseen(piece.seconds)
    handedIn.textTokens += piece.textTokens
    goOnAt(to)
  }

  return {
    /** Returns what says that it was not sent. */
    add: (seconds: number): (() => void) => {
      sent += seconds
      return () => {
        sent -= seconds
      }
    },
    /** The caller hands in or leaves out what it has sent, by its event of this name. Returns what says that it does not. */
    mark: (handsIn: boolean, name?: string): (() => void) => {
      const mark = { at: sent, name, handsIn }
      if (marks.length < mostMarks) marks.push(mark)
      return () => {
        marks = marks.filter((one) => one !== mark)
      }
    },
    /** The upstream refuses the caller's event of this name; one that it does not name is the oldest that hands in, if it `isHandingIn`. */
    refuse: (name: string | undefined, isHandingIn: boolean): void => {
      const named = marks.find((mark) => name !== undefined && mark.name === name)
      const refused = named ?? (isHandingIn ? marks.find(({ handsIn }) => handsIn) : undefined)
      marks = marks.filter((mark) => mark !== refused)
    },
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
    handIn,
    /** The upstream has left out what was not handed in; what it has written of that is paid all the same. */
    leaveOut: (): void => {
      if (early) handIn(early.item)
      else goOnAt(nextMark())
    },
    write: (item: string, textTokens: number): void => {
      const piece = pieces.get(item)
      if (!piece) {
        early = { item, textTokens: (early?.textTokens ?? 0) + textTokens }
        return
      }
      piece.textTokens += textTokens
      handedIn.textTokens += textTokens
    },
    /** So much was written of sound that nobody has handed in that it is paid now. */
    get isLong() {
      return early !== null && (open()[0] ?? 0) >= longestWritten
    },
    /** What is long, in whole steps; what comes after it is of the same piece. */
    takeLong: (): Piece => {
      const seconds = Math.floor((open()[0] ?? 0) / longestWritten) * longestWritten
      const taken = { seconds, textTokens: early?.textTokens ?? 0 }
      const piece = { ...taken, at: now(), paid }
      from = beginning() + seconds
      paid = sumOf(paid, taken)
      if (early) early = { ...early, textTokens: 0 }
      return piece
    },
    /** The piece whose text is complete, or never will be. Not every upstream says that one was handed in. */
    take: (item: string): Piece => {
      if (!pieces.has(item)) handIn(item)
      return remove(item) as Piece
    },
    /** Everything that was sent and not left out; when it is over, only what the upstream has begun to write, unless it is `all`. */
    takeRest: ({ all }: { all: boolean }): Piece[] => {
      const [first = 0, ...others] = open()
      const opened = { seconds: first, textTokens: early?.textTokens ?? 0, at: now(), paid }
      const rest = [
        ...pieces.values(),
        opened,
        ...others.map((seconds) => ({ ...nothing, seconds, at: now(), paid: nothing })),
      ]
      for (const item of pieces.keys()) remove(item)
      marks = []
      goOnAt(sent)
      return rest.filter(({ seconds, textTokens }) => (all && seconds > 0) || textTokens > 0)
    },
    /** What is not paid: pieces, and what they may come to. */
    get unpaid() {
      const lengths = open()
      return {
        count: pieces.size + lengths.length,
        tokens: lengths.reduce((sum, seconds) => sum + foreseen(seconds), handedIn.tokens),
        textTokens: handedIn.textTokens + (early?.textTokens ?? 0),
      }
    },
  }
}

const sumOf = (one: Part, other: Part): Part => ({
  seconds: one.seconds + other.seconds,
  textTokens: one.textTokens + other.textTokens,
})

const joined = (earlier: Piece | undefined, added: Piece): Piece =>
  earlier ? { ...sumOf(earlier, added), at: earlier.at, paid: sumOf(earlier.paid, added.paid) } : added
