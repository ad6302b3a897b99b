import { countText } from '#relay/counting/count-text.ts'

/** Characters kept before they are counted: most sessions report usage, and nothing needs counting. */
const longestBuffer = 1024 * 1024

/** Many short texts take more room than their characters. */
const costOfAPiece = 64

const yieldNow = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Texts whose tokens are counted only when somebody wants to know. */
export function createTextCount(model: string) {
  let pieces: string[] = []
  let buffered = 0
  let counting: Promise<number> = Promise.resolve(0)

  const fold = (): void => {
    const texts = pieces
    if (texts.length === 0) return
    pieces = []
    buffered = 0
    counting = counting.then(async (sum) => {
      let total = sum
      for (const text of texts) total += await countText(text, model, yieldNow)
      return total
    })
  }
  const keep = (characters: number): void => {
    buffered += characters
    if (buffered > longestBuffer) fold()
  }

  return {
    /** A text of its own. */
    add: (text: string): void => {
      if (text === '' && (pieces.at(-1) ?? '') === '') return
      pieces.push(text)
      keep(text.length + costOfAPiece)
    },
    /** More of the text before. */
    append: (text: string): void => {
      pieces.push((pieces.pop() ?? '') + text)
      keep(text.length)
    },
    clear: (): void => {
      pieces = []
      buffered = 0
      counting = Promise.resolve(0)
    },
    /** The tokens of everything since the last look. */
    take: (): Promise<number> => {
      fold()
      const sum = counting
      counting = Promise.resolve(0)
      return sum
    },
  }
}
