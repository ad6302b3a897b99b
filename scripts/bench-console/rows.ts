/** How much there is, and since when. */
export type Size = { logs: number; users: number; channels: number; days: number; now: Date }

export const hourMs = 3_600_000
const callsOfSession = 20
const models = 120
const groups = 12
const tokenNames = 200

export const modelName = (index: number): string =>
  `${['gpt', 'claude', 'gemini', 'qwen', 'deepseek'][index % 5]}-${index}`
export const groupName = (index: number): string => (index === 0 ? 'default' : `group-${index}`)
export const userName = (index: number): string => `user${index}`
export const channelName = (index: number): string => `channel-${index}`
export const modelCount = models
export const groupCount = groups
/** Everybody has two tokens; most are called what many call theirs. */
export const tokenName = (token: number): string =>
  token % 500 === 7 ? `only-${token}` : `token-${(token * 31) % tokenNames}`

/** Few have much, most have little. */
const skewed = (random: () => number, count: number, power: number): number => Math.floor(count * random() ** power)

export type LogLine = {
  at: number
  user: number
  token: number
  model: number
  channel: number
  group: number
  failed: boolean
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  quota: number
  useTimeMs: number
  firstTokenMs: number
  cost: number
  session: string | null
}

/** The calls of an hour in the order of their times: people work in sessions, with one token, model and channel each. */
export function logsOfHour(random: () => number, size: Size, hour: { start: number; count: number }): LogLine[] {
  const lines: LogLine[] = []
  while (lines.length < hour.count) {
    const user = skewed(random, size.users, 3)
    const token = user * 2 + Math.floor(random() * 2)
    const model = skewed(random, models, 2.5)
    const channel = skewed(random, size.channels, 3)
    const group = skewed(random, groups, 5)
    const session = random() < 0.3 ? `session-${user}-${hour.start / hourMs}-${lines.length}` : null
    const calls = Math.min(1 + skewed(random, callsOfSession * 3, 2), hour.count - lines.length)
    for (let call = 0; call < calls; call += 1) {
      const promptTokens = 50 + skewed(random, 100_000, 4)
      const completionTokens = 10 + skewed(random, 8000, 3)
      const failed = random() < 0.03
      lines.push({
        at: hour.start + Math.floor(random() * hourMs),
        user,
        token,
        model,
        channel,
        group,
        session,
        failed,
        promptTokens,
        completionTokens,
        cachedTokens: Math.floor(promptTokens * random() * 0.5),
        quota: failed ? 0 : Math.ceil((promptTokens + completionTokens * 4) * (0.1 + model / 60)),
        useTimeMs: 300 + completionTokens * 12,
        firstTokenMs: 200 + Math.floor(random() * 1500),
        cost: (promptTokens + completionTokens * 4) * 900,
      })
    }
  }
  return lines.toSorted((left, right) => left.at - right.at)
}

/** How many calls each hour of the range has: nights are quiet, and all together are what was ordered. */
export function hoursOf(size: Size): { start: number; count: number }[] {
  const last = Math.floor(size.now.getTime() / hourMs - 1) * hourMs
  const hours = Array.from({ length: size.days * 24 }, (_, index) => last - (size.days * 24 - 1 - index) * hourMs)
  const weights = hours.map((start) => 1.2 + Math.sin(((start / hourMs) % 24) / 3.82))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let given = 0
  let reached = 0
  return hours.map((start, index) => {
    reached += ((weights[index] ?? 0) / total) * size.logs
    const count = Math.round(reached) - given
    given += count
    return { start, count }
  })
}
