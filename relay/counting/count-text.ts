import { cheapTextTokens } from './cheap-count.ts'

/** Lets other work run; handed in because pure code owns no timer. */
export type YieldNow = () => Promise<void>

/** The tokens of all texts together; handed in, because long texts are counted on a thread of their own. */
export type CountTexts = (texts: readonly string[], model: string) => Promise<number>

type CountTokens = (text: string) => number
type EncodingName = 'o200k_base' | 'cl100k_base'

/** Characters handed to the encoder at once: it takes quadratic time over a text without any break. */
const chunkLength = 1024
const chunksBetweenYields = 4
/** The encoder remembers words it has seen; its own limit would let hostile texts fill the memory. */
const rememberedWords = 5000

/** OpenAI's models, also as others name them: `openai/gpt-5`, `openai.gpt-oss-120b`, `ft:gpt-4o:…`. */
const openAiModels = /^(?:.*\/|ft:|openai\.)?(?:gpt-|chatgpt-|chat-latest|codex-|computer-use-|o\d(?:$|[-:]))/
/** All that came after these have the newer encoder: `gpt-4o`, `gpt-4.1`, and `gpt-41` as Azure writes it, are not `gpt-4`. */
const olderModels = /^(?:.*\/|ft:|openai\.)?gpt-(?:2|3|4(?:$|[-:]))/

/** Whether a count here is the vendor's own. */
export const hasOwnEncoder = (model: string): boolean => openAiModels.test(model)

export const encodingOf = (model: string): EncodingName =>
  openAiModels.test(model) && !olderModels.test(model) ? 'o200k_base' : 'cl100k_base'

const loaded = new Map<EncodingName, Promise<CountTokens>>()

/** Loading an encoder takes a tenth of a second, so a server may want to do it before the first call needs it. */
function loadEncoding(name: EncodingName): Promise<CountTokens> {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const loading = importEncoding(name).catch(() => cheapTextTokens)
  loaded.set(name, loading)
  return loading
}

async function importEncoding(name: EncodingName): Promise<CountTokens> {
  const encoding =
    name === 'o200k_base'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base')
  encoding.setMergeCacheSize(rememberedWords)
  // A caller's text may spell control tokens; they are text like any other here.
  const plain = { disallowedSpecial: new Set<string>() }
  return (text) => encoding.countTokens(text, plain)
}

/** The tokens of a text by the model's own encoder; other vendors are counted with OpenAI's older one. */
export async function countText(text: string, model: string, yieldNow: YieldNow): Promise<number> {
  if (text === '') return 0
  const countTokens = await loadEncoding(encodingOf(model))
  let total = 0
  let chunks = 0
  for (let at = 0; at < text.length;) {
    const end = chunkEnd(text, at)
    total += countTokens(text.slice(at, end))
    at = end
    chunks += 1
    if (chunks % chunksBetweenYields === 0) await yieldNow()
  }
  return total
}

const isSpace = (text: string, at: number): boolean => text.charCodeAt(at) === 0x20

/** Cuts in front of the spaces between two words, where the encoder itself would, else anywhere but inside a character. */
function chunkEnd(text: string, start: number): number {
  const end = start + chunkLength
  if (end >= text.length) return text.length
  for (let at = end; at > start + chunkLength / 2; at -= 1) {
    if (isSpace(text, at) && !isSpace(text, at - 1)) return at
  }
  const splitsCharacter = (text.charCodeAt(end) & 0xfc00) === 0xdc00
  return splitsCharacter ? end - 1 : end
}
