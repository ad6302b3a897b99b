import type { Route } from './candidates.ts'

export type PickOptions = {
  /** Models with a prefix go by the plain weight; everything else by `weight + 10`, so that weight 0 has a share too. */
  plainWeights?: boolean | undefined
}

const weightOfAll = 10

function weightsOf(routes: readonly Route[], options?: PickOptions): number[] {
  if (!options?.plainWeights) return routes.map((route) => Math.max(0, route.weight) + weightOfAll)
  const weights = routes.map((route) => Math.max(0, route.weight))
  return weights.some((weight) => weight > 0) ? weights : weights.map(() => 1)
}

/** The probability of each route to be picked, in their order. */
export function sharesOf(routes: readonly Route[], options?: PickOptions): number[] {
  const weights = weightsOf(routes, options)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => (total === 0 ? 0 : weight / total))
}

/** One of the routes at random; `random` is uniform in [0, 1). */
export function pickRoute(routes: readonly Route[], random: number, options?: PickOptions): Route | undefined {
  const weights = weightsOf(routes, options)
  let left = random * weights.reduce((total, weight) => total + weight, 0)
  for (const [index, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return routes[index]
  }
  return routes.findLast((_, index) => (weights[index] ?? 0) > 0)
}

/** The next key of a channel: `turn` counts the uses of the channel, from 0. */
export const pickKey = (keys: readonly number[], turn: number): number | undefined => keys[turn % keys.length]

/**
 * The same route and key for the same session on every node, in proportion to the weights, with nothing remembered: each
 * route draws a number from the session's name and its own, and the best draw wins. A route that comes or goes moves only
 * the sessions it wins or held.
 */
export function bindSession(
  routes: readonly Route[],
  session: string,
  options?: PickOptions,
): { route: Route; key: number } | undefined {
  const weights = weightsOf(routes, options)
  const route = best(routes, (candidate, index) => draw(`${session}\n${candidate.channelId}`, weights[index] ?? 0))
  if (route === undefined) return undefined
  const key = best(route.keys, (candidate) => draw(`${session}\n${route.channelId}\n${candidate}`, 1))
  return key === undefined ? undefined : { route, key }
}

function best<Item>(items: readonly Item[], scoreOf: (item: Item, index: number) => number): Item | undefined {
  let winner: Item | undefined
  let highest = Number.NEGATIVE_INFINITY
  for (const [index, item] of items.entries()) {
    const score = scoreOf(item, index)
    if (score > highest) {
      highest = score
      winner = item
    }
  }
  return winner
}

/** An exponential draw: the probability to be the highest of several is proportional to the weight. */
const draw = (text: string, weight: number): number =>
  weight > 0 ? Math.log(uniformOf(text)) / weight : Number.NEGATIVE_INFINITY

/** A number in (0, 1) that depends on every character; fast, and of no use for secrets. */
function uniformOf(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return ((high >>> 0) * 0x200000 + ((low >>> 0) & 0x1fffff) + 0.5) / 2 ** 53
}
