import { expect, test } from 'vitest'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { receipt as receiptSchema } from '#core/pricing/receipt.ts'
import { setOptions } from './serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
const token = await app.make.token(await app.make.user({ quota: 9_000_000_000_000 }))

/** A whole number of billionths of billionths: three decimals a factor, and no charge has more than six factors. */
type Exact = bigint
const one = 10n ** 18n

/** A decimal text as an exact number. */
function exact(text: string): Exact {
  const [integer = '0', part = ''] = text.split('.')
  return BigInt(integer) * one + BigInt(part.padEnd(18, '0') || 0)
}
const times = (left: Exact, right: Exact): Exact => {
  const product = left * right
  if (product % one !== 0n) throw new Error('not exact')
  return product / one
}
const tokens = (count: number): Exact => BigInt(count) * one

const floored = (value: Exact): number => Number(value / one)
const rounded = (value: Exact): number => Number((value + one / 2n) / one)

/** The same sequence every time; a failing case can be looked at again. */
function createRandom(seed: number) {
  let state = seed
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
  const integer = (most: number): number => Math.floor(next() * (most + 1))
  return {
    integer,
    /** Up to three decimals, as an operator would type them. */
    decimal: (most: number): string => (integer(most * 1000) / 1000).toString(),
    pick: <Item>(items: readonly Item[]): Item => items[integer(items.length - 1)] as Item,
  }
}

const random = createRandom(20_261_121)

type Case = {
  model: string
  type: number
  by: CallerDialect
  stream: boolean
  usage: { prompt: number; completion: number; cached: number; written: number }
  price: { perCall: string } | { ratio: string; completion: string; cache: string }
}

/** Some calls are tiny, so that what rounds to nothing comes up. */
function randomCase(_: unknown, index: number): Case {
  const most = random.pick([3, 300, 200_000])
  const prompt = random.integer(most)
  const cached = random.pick([0, random.integer(prompt)])
  const type = random.pick([1, 14, 24])
  const written = type === 14 ? random.pick([0, random.integer(prompt - cached)]) : 0
  return {
    model: `priced-${index}`,
    type,
    by: random.pick(callerDialects),
    stream: random.pick([false, true]),
    usage: { prompt, completion: random.integer(most) + (prompt === 0 ? 1 : 0), cached, written },
    price:
      random.integer(9) === 0
        ? { perCall: random.pick(['0', random.decimal(1)]) }
        : {
            ratio: random.pick(['0', '0.001', random.decimal(40)]),
            completion: random.decimal(9),
            cache: random.decimal(1),
          },
  }
}

const groupRatio = '0.83'
const quotaPerUnit = '500000'

/** The documented formulas (8.5.1, 8.5.2), in the words of the document. */
function chargeOf({ usage, price, type, by }: Case): number {
  const group = exact(groupRatio)
  if ('perCall' in price) {
    const integer = times(times(exact(price.perCall), exact(quotaPerUnit)), group)
    return price.perCall === '0' ? 0 : Math.max(1, rounded(integer))
  }
  const isClaude = type === 14 || by.dialect === 'messages'
  const fresh = usage.prompt - usage.cached - usage.written
  // What is written to the cache costs a quarter more, where an upstream reports it.
  const weighted =
    tokens(fresh) +
    times(tokens(usage.cached), exact(price.cache)) +
    times(tokens(usage.written), exact('1.25')) +
    times(tokens(usage.completion), exact(price.completion))
  const integer = times(times(weighted, exact(price.ratio)), group)
  const quota = isClaude ? floored(integer) : rounded(integer)
  return exact(price.ratio) === 0n ? 0 : Math.max(1, quota)
}

test('a hundred random usages at random prices cost what the documented formulas say, here and in the browser', async () => {
  const cases = Array.from({ length: 100 }, randomCase)
  const maps = { ModelRatio: {}, CompletionRatio: {}, CacheRatio: {}, ModelPrice: {} } as Record<
    string,
    Record<string, number>
  >
  for (const { model, price, type, usage } of cases) {
    if ('perCall' in price) maps['ModelPrice']![model] = Number(price.perCall)
    else {
      maps['ModelRatio']![model] = Number(price.ratio)
      maps['CompletionRatio']![model] = Number(price.completion)
      maps['CacheRatio']![model] = Number(price.cache)
    }
    const { prompt, completion, cached, written } = usage
    const baseUrl = app.upstream.withDirectives(`usage=${prompt}:${completion}:${cached}:${written}`)
    await app.make.channel({ type, models: model, baseUrl })
  }
  await app.services.channels.reload()
  await setOptions(app, {
    GroupRatio: `{"default":${groupRatio}}`,
    ...Object.fromEntries(Object.entries(maps).map(([key, map]) => [key, JSON.stringify(map)])),
  })

  for (const each of cases) {
    const reply = await say(app, each.by, { token, model: each.model, stream: each.stream })
    expect(reply.status, await reply.text()).toBe(200)
  }
  const rows = new Map((await consumed(app)).map((row) => [row.model_name, row]))
  for (const each of cases) {
    const row = rows.get(each.model)
    const label = JSON.stringify({ ...each, by: each.by.dialect })
    expect(row?.quota, label).toBe(chargeOf(each))
    // What the browser shows is worked out of the row again.
    const charge = chargeReceipt(receiptSchema.parse(row?.other['receipt']))
    expect(charge.quota, label).toBe(row?.quota)
  }
})
