import { encodingOf } from './count-text.ts'

/** What each token stands for: a text, or bytes that are none by themselves. */
type Vocabulary = readonly (string | readonly number[])[]

/** Models from before the encodings that are known here. */
const olderEncoding = /^(text|code)-(similarity|search)-/

/** The encoder's own decoder keeps bytes of one text for the next, so that its vocabulary is read instead. */
async function vocabularyOf(model: string): Promise<Vocabulary> {
  const { default: vocabulary } =
    encodingOf(model) === 'o200k_base'
      ? await import('gpt-tokenizer/bpeRanks/o200k_base')
      : await import('gpt-tokenizer/bpeRanks/cl100k_base')
  return vocabulary
}

/** As many as OpenAI embeds in one call; a token can stand for a hundred characters, so that more would be a text out of all proportion. */
const mostTokens = 300_000

const isTokens = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((token) => typeof token === 'number')

/** Nothing where a token is unknown or stands for no text, or where the bytes begin or end within a character. */
function textOf(tokens: readonly number[], vocabulary: Vocabulary): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let bytes: number[] = []
  const flush = (): void => {
    if (bytes.length > 0) text += decoder.decode(Uint8Array.from(bytes))
    bytes = []
  }
  try {
    for (const token of tokens) {
      const piece = vocabulary[token]
      if (piece === undefined) return undefined
      if (typeof piece !== 'string') bytes.push(...piece)
      else {
        flush()
        text += piece
      }
    }
    flush()
    return text
  } catch {
    return undefined
  }
}

/**
 * The texts that a caller's lists of tokens stand for, by the encoding that OpenAI's own library takes for the model, its older one
 * for names of others. Nothing where one of them stands for no text, or for more of them than are embedded in one call.
 */
export async function textsOfTokens(input: unknown, model: string): Promise<string | string[] | undefined> {
  if (!Array.isArray(input) || olderEncoding.test(model)) return undefined
  const count = input.reduce<number>((sum, item) => sum + (Array.isArray(item) ? item.length : 1), 0)
  if (count > mostTokens) return undefined
  const vocabulary = await vocabularyOf(model)
  if (isTokens(input)) return textOf(input, vocabulary)
  const texts: string[] = []
  for (const item of input) {
    const text = isTokens(item) ? textOf(item, vocabulary) : item
    if (typeof text !== 'string') return undefined
    texts.push(text)
  }
  return texts
}
