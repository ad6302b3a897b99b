import { stepFor } from '#core/pricing/long-context.ts'
import { ratioToDollars } from '#core/pricing/prices.ts'
import type { RouterOutputs } from '#server/app-router.ts'

type Pricing = RouterOutputs['public']['models']['pricing']
export type PricedModel = Pricing['items'][number]
export type Group = Pricing['groups'][number]
export type Price = PricedModel['price']

/** What a group pays: dollars per million tokens, or dollars a call. The figures that do not apply are null. */
export type Dollars = {
  input: number | null
  output: number | null
  /** Of output that is images; null where it costs what all output does. */
  imageOutput: number | null
  cached: number | null
  cacheWrite: number | null
  call: number | null
}

/** What long prompts cost, by how long they are. */
export type LongPrice = { above: number; dollars: Dollars }

type Terms = { groupRatio: number; quotaPerUnit: number }

const times = (dollars: number | null, factor: number): number | null => (dollars === null ? null : dollars * factor)

/** The price list's own rows for prompts beyond some length. */
export function longPricesOf(price: Price, terms: Terms): LongPrice[] {
  const short = dollarsOf(price, terms)
  return price.longContext.map(({ above, input, output }) => ({
    above,
    dollars: {
      input: times(short.input, input),
      output: times(short.output, output),
      imageOutput: times(short.imageOutput, output),
      cached: times(short.cached, input),
      cacheWrite: times(short.cacheWrite, input),
      call: null,
    },
  }))
}

/** The prices of a prompt of some length. */
export const dollarsFor = (price: Price, terms: Terms, promptTokens: number): Dollars => {
  const above = stepFor(price.longContext, promptTokens)?.above
  return longPricesOf(price, terms).find((long) => long.above === above)?.dollars ?? dollarsOf(price, terms)
}

export function dollarsOf(price: Price, { groupRatio, quotaPerUnit }: Terms): Dollars {
  if (price.modelPrice !== null) {
    const none = { input: null, output: null, imageOutput: null, cached: null, cacheWrite: null }
    return { ...none, call: price.modelPrice * groupRatio }
  }
  const input = ratioToDollars(price.modelRatio ?? 0, quotaPerUnit) * groupRatio
  return {
    input,
    output: input * (price.completionRatio ?? 1),
    imageOutput: times(price.imageOutputRatio, input),
    cached: input * (price.cacheRatio ?? 1),
    cacheWrite: price.cacheWriteRatio === null || price.cacheWriteRatio === 1 ? null : input * price.cacheWriteRatio,
    call: null,
  }
}

export type Usage = { input: number; cached: number; output: number }

/** The example's cost; cached tokens are part of the input. */
export function costOf(dollars: Dollars, { input, cached, output }: Usage): number {
  if (dollars.call !== null) return dollars.call
  const fromCache = Math.min(cached, input)
  const perMillion =
    (input - fromCache) * (dollars.input ?? 0) + fromCache * (dollars.cached ?? 0) + output * (dollars.output ?? 0)
  return perMillion / 1_000_000
}

const families: readonly [RegExp, string][] = [
  [/^(gpt|o[1-9]|chatgpt|dall-e|whisper|tts|text-embedding-(3|ada)|davinci|babbage|codex|sora)/, 'OpenAI'],
  [/^claude/, 'Anthropic'],
  [/^(gemini|gemma|imagen|veo|palm)/, 'Google'],
  [/^deepseek/, 'DeepSeek'],
  [/^(qwen|qwq|qvq|wan)/, 'Qwen'],
  [/^(glm|chatglm|cogview)/, 'Zhipu'],
  [/^(moonshot|kimi)/, 'Moonshot'],
  [/^(grok)/, 'xAI'],
  [/^(mistral|mixtral|codestral|pixtral|ministral)/, 'Mistral'],
  [/^(llama|meta)/, 'Meta'],
  [/^(doubao|skylark)/, 'Doubao'],
  [/^(ernie|bloomz)/, 'Baidu'],
  [/^(hunyuan|hy\d)/, 'Tencent'],
  [/^(abab|minimax)/, 'MiniMax'],
  [/^(yi-)/, '01.AI'],
  [/^(spark)/, 'iFlytek'],
  [/^(command|embed-|c4ai|rerank)/, 'Cohere'],
  [/^(mj_|swap_face)/, 'Midjourney'],
  [/^suno/, 'Suno'],
]

/** Whose model it seems to be, by its name; undefined where the name does not tell. */
export function vendorOf(model: string): string | undefined {
  const bare = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return families.find(([pattern]) => pattern.test(bare))?.[1]
}
