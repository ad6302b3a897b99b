import { describe, expect, test } from 'vitest'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { type AnswerTerms, costOfAnswer } from '#core/pricing/estimate.ts'
import type { Price, RatioPrice } from '#core/pricing/price.ts'
import { taskReceipt } from '#core/pricing/tasks.ts'
import { toolUses } from '#core/pricing/tools.ts'
import { emptyUsage, type ReportedUsage } from '#core/usage.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { countText } from '#relay/counting/count-text.ts'
import { plainEstimate, plainReceipt, plainUsage } from '#relay/operations/bill.ts'
import { parsePlain } from '#relay/operations/parse.ts'
import type { PlainCall } from '#relay/operations/types.ts'
import type { PlainOperation } from '#relay/providers/types.ts'
import { long } from '#test/support/long.ts'

const rounds = long ? 20_000 : 300

let state = 20_261_123
/** The same sequence in every run. */
const below = (limit: number): number => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((state / 2 ** 31) * limit)
}
const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item

const count = async (texts: readonly string[], model: string): Promise<number> => {
  let total = 0
  for (const text of texts) total += await countText(text, model, () => Promise.resolve())
  return total
}

/** Of plain words, of other scripts, of figures and signs. */
const words = [
  'tell ',
  'me ',
  'a story ',
  'of the fox ',
  '今天',
  '天气很好',
  'größer ',
  '12 ',
  'https://example.com/a ',
]
const textOf = (most: number): string => Array.from({ length: 1 + below(most) }, () => oneOf(words)).join('')

function ratioPrice(): RatioPrice {
  return {
    kind: 'ratio',
    modelRatio: oneOf([0.01, 0.075, 1, 1.25, 15, 37.5]),
    completionRatio: oneOf([1, 3, 4, 8.3333]),
    cacheRatio: 0.5,
    cacheWriteRatio: 1.25,
    cacheWrite1hRatio: 2,
    imageRatio: oneOf([1, 2]),
    audioRatio: oneOf([1, 8, 16]),
    audioCompletionRatio: oneOf([1, 2]),
    imageOutputRatio: oneOf([undefined, 12, 100]),
    source: 'table',
  }
}
const callPrice = (): Price => ({ kind: 'call', modelPrice: oneOf([0, 0.0002, 0.04, 0.1, 3]), source: 'table' })
const terms = () => ({
  price: below(4) === 0 ? callPrice() : ratioPrice(),
  groupRatio: oneOf([0.3, 1, 1.7]),
  quotaPerUnit: 500_000,
})

type Wanted = {
  operation: PlainOperation
  model: string
  json: Record<string, unknown>
  seconds?: number
  /** Of an upload whose length cannot be read, what it turns out to be. */
  reportedSeconds?: number
  bytes?: number
}

async function compare(
  { operation, model, json, seconds, reportedSeconds, bytes = 0 }: Wanted,
  reported?: ReportedUsage,
  priced = terms(),
) {
  const form = operation === 'transcriptions' || operation === 'translations' ? new FormData() : null
  form?.set('file', new Blob([bytes === 0 ? 'sound' : Buffer.alloc(bytes)]))
  const asked = { ...parsePlain(operation, { json: { model, ...json }, form }, undefined), seconds }
  const call = { asked, body: { bytes: Buffer.alloc(0), json } } as unknown as PlainCall
  const plan = { attempt: { upstreamModel: asked.model }, terms: priced } as unknown as AttemptPlan
  const held = plainEstimate(call, plan)
  const used = await plainUsage(
    call,
    { upstreamModel: asked.model, terms: priced, count },
    { usage: reported, seconds: reportedSeconds },
  )
  const cost = chargeReceipt(plainReceipt(call, { upstreamModel: asked.model, terms: priced }, used)).quota
  return { held, cost, shown: JSON.stringify({ operation, model, json, priced, held, cost }).slice(0, 600) }
}

/** Counts by bytes are near the encoder's, not above them for every text; one that is short misses by no more than this. */
const cheapCountShort = 1.35

const generated: { name: string; short?: number; wanted: () => Wanted }[] = [
  {
    name: 'pictures by the piece, of every size, quality and number',
    wanted: () => {
      const model = oneOf(['dall-e-2', 'dall-e-3', 'gpt-image-1', 'flux-1'])
      const size =
        model === 'dall-e-2'
          ? oneOf(['256x256', '512x512', '1024x1024'])
          : oneOf(['1024x1024', '1024x1792', '1792x1024'])
      const n = 1 + below(10)
      return {
        operation: 'images',
        model,
        json: { prompt: textOf(40), n, size, quality: oneOf(['standard', 'hd', 'low', 'high', 'auto']) },
      }
    },
  },
  {
    name: 'changes of pictures',
    wanted: () => ({
      operation: 'image-edits',
      model: oneOf(['gpt-image-1', 'dall-e-2']),
      json: { prompt: textOf(40), n: 1 + below(10), quality: oneOf(['low', 'medium', 'high', 'auto']) },
    }),
  },
  {
    name: 'speech by the character',
    wanted: () => ({ operation: 'speech', model: 'tts-1', json: { input: textOf(200), voice: 'alloy' } }),
  },
  {
    name: 'speech by the token',
    wanted: () => ({ operation: 'speech', model: 'gpt-4o-mini-tts', json: { input: textOf(200), voice: 'alloy' } }),
  },
  {
    name: 'recordings whose length can be read',
    wanted: () => {
      const seconds = below(7200) / 7
      return {
        operation: oneOf(['transcriptions', 'translations'] as const),
        model: 'whisper-1',
        json: {},
        seconds,
        reportedSeconds: seconds,
      }
    },
  },
  {
    name: 'recordings whose length cannot be read, from 64 kbit a second on',
    wanted: () => {
      const reportedSeconds = below(120)
      return {
        operation: 'transcriptions',
        model: 'whisper-1',
        json: {},
        reportedSeconds,
        bytes: Math.ceil(reportedSeconds * oneOf([64, 128, 256]) * 125) + 1000,
      }
    },
  },
  {
    name: 'moderation of texts',
    short: cheapCountShort,
    wanted: () => ({
      operation: 'moderations',
      model: 'text-moderation-stable',
      json: { input: Array.from({ length: 1 + below(4) }, () => textOf(200)) },
    }),
  },
  {
    name: 'embeddings of texts and of tokens',
    short: cheapCountShort,
    wanted: () => ({
      operation: 'embeddings',
      model: 'text-embedding-3-small',
      json: {
        input:
          below(2) === 0
            ? Array.from({ length: 1 + below(900) }, () => below(50_000))
            : Array.from({ length: 1 + below(5) }, () => textOf(200)),
      },
    }),
  },
  {
    name: 'rankings',
    short: cheapCountShort,
    wanted: () => ({
      operation: 'rerank',
      model: 'rerank-1',
      json: { query: textOf(20), documents: Array.from({ length: 1 + below(20) }, () => textOf(60)) },
    }),
  },
]

describe('what is set aside covers what the call then costs', () => {
  test.each(generated)('$name', async ({ short = 1, wanted }) => {
    for (let round = 0; round < rounds; round += 1) {
      const { held, cost, shown } = await compare(wanted())
      expect(cost, shown).toBeLessThanOrEqual(Math.ceil(held * short) + 1)
    }
  })

  test('rankers count the question once with every document, and that is set aside', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const query = textOf(20)
      const documents = Array.from({ length: 1 + below(20) }, () => textOf(60))
      const model = 'rerank-1'
      const total = (await count(documents, model)) + (await count([query], model)) * documents.length
      const usage = { promptTokens: total, completionTokens: 0 }
      const { held, cost, shown } = await compare({ operation: 'rerank', model, json: { query, documents } }, usage)
      expect(cost, shown).toBeLessThanOrEqual(Math.ceil(held * cheapCountShort) + 1)
    }
  })

  test('speech that reports its sound, as long as people take to say it', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const input = textOf(200)
      const json = { input, voice: 'alloy', stream_format: 'sse' }
      // Fifteen letters a second, at $0.015 a minute of $12 a million tokens.
      const spoken = Math.floor(([...input].length / 15) * 20.8)
      const usage = { promptTokens: 1, completionTokens: spoken }
      const { held, cost, shown } = await compare({ operation: 'speech', model: 'gpt-4o-mini-tts', json }, usage)
      expect(cost, shown).toBeLessThanOrEqual(held + 1)
    }
  })

  test('recordings whose sound is reported, at what transcribers cost', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const seconds = 1 + below(7200)
      // Ten tokens a second, and as many words as people say.
      const usage = {
        promptTokens: seconds * 10 + 10,
        audioInputTokens: seconds * 10,
        completionTokens: Math.floor(seconds * 2.5),
      }
      const price = { ...ratioPrice(), modelRatio: 1.25, completionRatio: 4, audioRatio: 2.4 }
      const wanted = { operation: 'transcriptions', model: 'gpt-4o-transcribe', json: {}, seconds } as const
      const { held, cost, shown } = await compare(wanted, usage, { ...terms(), price })
      expect(cost, shown).toBeLessThanOrEqual(held + 1)
      expect(held, shown).toBeLessThanOrEqual(cost * 1.5 + 100)
    }
  })

  test('chat with audio in and out, and tools that the vendor runs, as often as was foreseen', () => {
    for (let round = 0; round < rounds; round += 1) {
      const audioTokens = below(2000)
      const promptTokens = audioTokens + below(2000)
      const spoken = below(2) === 0
      const model = oneOf(['gpt-4o-audio-preview', 'gpt-4o-search-preview', 'claude-sonnet-4', 'gemini-2.5-flash'])
      const containers = [1, 4, 16, 64].slice(0, below(5)).map((gigabytes) => ({ id: '', gigabytes }))
      const foreseen = { webSearchCalls: below(11), fileSearchCalls: below(4), containers }
      const given: AnswerTerms = {
        ...terms(),
        promptTokens,
        cacheWriteMarked: 0,
        audioTokens,
        spoken,
        formula: audioTokens > 0 || spoken ? 'audio' : 'text',
        tools: toolUses({ model, usage: foreseen }),
      }
      const answer = below(4000)
      const held = costOfAnswer(given, answer)
      const planned = below(answer + 1)
      const usage = {
        ...emptyUsage,
        promptTokens: below(promptTokens + 1),
        completionTokens: planned,
        audioOutputTokens: spoken ? below(planned + 1) : 0,
        imageOutputTokens: below(planned + 1),
      }
      const happened = {
        webSearchCalls: below(foreseen.webSearchCalls + 1),
        fileSearchCalls: below(foreseen.fileSearchCalls + 1),
        containers: containers.slice(0, below(containers.length + 1)),
      }
      const audioInputTokens = Math.min(below(audioTokens + 1), usage.promptTokens)
      const { price, groupRatio, quotaPerUnit, formula } = given
      const cost = chargeReceipt({
        formula,
        price,
        groupRatio,
        quotaPerUnit,
        usage: { ...usage, audioInputTokens },
        tools: toolUses({ model, usage: happened }),
      }).quota
      expect(cost, JSON.stringify({ given, usage, happened })).toBeLessThanOrEqual(held)
    }
  })

  test('a task costs exactly its price, and one that only opens a dialogue nothing', () => {
    for (let round = 0; round < rounds; round += 1) {
      const price = callPrice()
      if (price.kind !== 'call') throw new Error('a price per call')
      const action = oneOf(['IMAGINE', 'UPSCALE', 'VIDEO', 'MUSIC', 'LYRICS', 'INPAINT', 'CUSTOM_ZOOM'])
      const groupRatio = oneOf([0.3, 1, 1.7])
      const { quota } = chargeReceipt(taskReceipt({ action, price, groupRatio, quotaPerUnit: 500_000 }))
      const isFree = action === 'INPAINT' || action === 'CUSTOM_ZOOM' || price.modelPrice === 0
      expect(quota).toBe(isFree ? 0 : Math.max(1, Math.floor(price.modelPrice * 500_000 * groupRatio + 1e-9)))
    }
  })
})
