import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { imageTokens } from '#relay/counting/image-tokens.ts'
import { mediaFromUrl } from '#relay/dialects/openai-chat/parts.ts'
import { type Json, textOf } from '#relay/providers/shared/json.ts'
import { createTextCount } from './text-count.ts'

/** Tokens of text, images among them, and seconds of audio. */
export type InputSize = { text: number; seconds: number }

/** Input that nobody has paid yet: that of the conversation, or what one response alone is given. */
export type InputCount = ReturnType<typeof createInputCount>

export function createInputCount(model: string) {
  const texts = createTextCount(model)
  /** Tokens that are known without counting: of images, and around texts. */
  let extra = 0
  let seconds = 0
  return {
    /** Returns its tokens by the cheap count. Some texts bring tokens along. */
    addText: (text: string, alongside = 0): number => {
      texts.add(text)
      extra += alongside
      return cheapTextTokens(text)
    },
    addSeconds: (length: number): number => {
      seconds += length
      return length
    },
    addImage: ({ image_url: url, detail }: Json): number => {
      const source = mediaFromUrl(textOf(url) ?? '')
      const tokens = imageTokens({ type: 'image', source, detail: detail === 'low' ? 'low' : 'auto' }, model)
      extra += tokens
      return tokens
    },
    clear: (left: { seconds: number } = { seconds: 0 }): void => {
      texts.clear()
      extra = 0
      ;({ seconds } = left)
    },
    /** Everything since the last look, by the better count. */
    take: async (): Promise<InputSize> => {
      const taken = { extra, seconds }
      extra = 0
      seconds = 0
      return { text: (await texts.take()) + taken.extra, seconds: taken.seconds }
    },
  }
}
