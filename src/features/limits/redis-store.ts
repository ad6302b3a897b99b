import type { Redis } from 'ioredis'
import type { RequestVerdict, Standing } from '#core/limits/request-limit.ts'
import { inTime } from './in-time.ts'
import type { RequestAsk, RequestStore } from './request-store.ts'
import type { UseStore } from './use-store.ts'

/** Redis' own clock, in milliseconds: nodes need not agree about theirs. */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
local limits = { tonumber(ARGV[2]), tonumber(ARGV[3]) }
local id = ARGV[4]
local look = ARGV[5] == 'look'
`

/** Two sorted sets of instants: all requests, and successes with those under way. Answers as {@link toVerdict} reads it. */
const admitSliding = `${clock}
local refused, wait = 0, 0
for i = 1, 2 do
  if limits[i] > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - window)
    local used = redis.call('ZCARD', KEYS[i])
    if refused == 0 and used >= limits[i] then
      local oldest = redis.call('ZRANGE', KEYS[i], used - limits[i], used - limits[i], 'WITHSCORES')
      refused, wait = i, math.max(1, tonumber(oldest[2]) + window - now)
    end
  end
end
local answer = { now, refused, wait }
for i = 1, 2 do
  local left, reset = -1, 0
  if limits[i] > 0 then
    if refused == 0 and not look then
      redis.call('ZADD', KEYS[i], now, id)
      redis.call('PEXPIRE', KEYS[i], window)
    end
    left = math.max(0, limits[i] - redis.call('ZCARD', KEYS[i]))
    local newest = redis.call('ZRANGE', KEYS[i], -1, -1, 'WITHSCORES')
    if newest[2] then reset = tonumber(newest[2]) + window - now end
  end
  answer[#answer + 1] = left
  answer[#answer + 1] = reset
end
return answer
`

const endSliding = `${clock}
if limits[2] <= 0 then return 0 end
if ARGV[6] == '1' then
  redis.call('ZADD', KEYS[2], now, id)
  redis.call('PEXPIRE', KEYS[2], window)
else
  redis.call('ZREM', KEYS[2], id)
end
return 0
`

/** One hash for the window that is open. */
const admitFixed = `${clock}
local started = tonumber(redis.call('HGET', KEYS[1], 'started') or '-1')
local open = started >= 0 and now >= started and now < started + window
if not open then
  started = now
  redis.call('DEL', KEYS[1])
  if not look then
    redis.call('HSET', KEYS[1], 'started', now, 'total', 0, 'success', 0)
    redis.call('PEXPIRE', KEYS[1], window)
  end
end
local counted = { 'total', 'success' }
local function used(i) return tonumber(redis.call('HGET', KEYS[1], counted[i]) or '0') end
local reset = started + window - now
local refused = 0
for i = 1, 2 do
  if refused == 0 and limits[i] > 0 and used(i) >= limits[i] then refused = i end
end
local answer = { now, refused, refused == 0 and 0 or reset }
for i = 1, 2 do
  if refused == 0 and not look then redis.call('HINCRBY', KEYS[1], counted[i], 1) end
  local left = -1
  if limits[i] > 0 then left = math.max(0, limits[i] - used(i)) end
  answer[#answer + 1] = left
  answer[#answer + 1] = reset
end
return answer
`

const endFixed = `${clock}
local started = tonumber(redis.call('HGET', KEYS[1], 'started') or '-1')
if started < 0 or now >= started + window then return 0 end
local own = started <= tonumber(ARGV[5])
if own and ARGV[6] == '0' then redis.call('HINCRBY', KEYS[1], 'success', -1) end
if not own and ARGV[6] == '1' then redis.call('HINCRBY', KEYS[1], 'success', 1) end
return 0
`

const admitScripts = { sliding: admitSliding, fixed: admitFixed }
const endScripts = { sliding: endSliding, fixed: endFixed }

/** Nobody waits long for a count: who gets none in time counts alone. */
const longestWaitMs = 100

/** Awaits an answer of Redis. @throws when it does not come in time. */
type Answers = {
  inTime: <Answer>(answer: Promise<Answer>) => Promise<Answer>
  /** @throws while an answer is overdue. */
  refuseWhileOverdue: () => void
}

/**
 * While an answer is overdue nothing new is asked for: what Redis gets round to later counts whoever was counted elsewhere long
 * ago, once again and from then on, and what waits for it takes memory.
 */
function limitAnswers(waitMs = longestWaitMs): Answers {
  let overdue = 0
  return {
    refuseWhileOverdue: () => {
      if (overdue > 0) throw new Error('Redis has not answered yet')
    },
    inTime: (answer) =>
      inTime(answer, waitMs, () => {
        overdue += 1
        const arrived = (): void => void (overdue -= 1)
        answer.then(arrived, arrived)
        return new Error('Redis does not answer in time')
      }),
  }
}

/**
 * Counts in Redis, for any number of machines. Each act is one script, so it is one step there. Acts fail where no answer came within
 * `waitMs`.
 */
export function createRedisStore(redis: Redis, waitMs = longestWaitMs): RequestStore {
  const answers = limitAnswers(waitMs)
  const keysOf = ({ name, key, limit }: RequestAsk): [string, string] => {
    // The braces keep both on one node of a Redis cluster.
    const base = `requests:{${name}:${limit.shape}:${key}}`
    return [base, `${base}:success`]
  }
  const numbersOf = ({ limit, id }: RequestAsk) => [limit.windowMs, limit.total, limit.success, id] as const
  return {
    admit: async (ask) => {
      answers.refuseWhileOverdue()
      const script = admitScripts[ask.limit.shape]
      const decided = redis.eval(script, 2, ...keysOf(ask), ...numbersOf(ask), ask.look ? 'look' : '')
      return toVerdict(ask, (await answers.inTime(decided)) as number[])
    },
    // Sent in any case: without it a place among the successes stays taken, and only who was counted there ends there.
    end: async (ending) => {
      const { admittedAt, succeeded, limit } = ending
      const script = endScripts[limit.shape]
      const counted = redis.eval(script, 2, ...keysOf(ending), ...numbersOf(ending), admittedAt, succeeded ? '1' : '0')
      await answers.inTime(counted)
    },
  }
}

/** A counter that ends with its window. What is taken back after that was of another window. */
const countUse = `
local by = tonumber(ARGV[1])
if by < 0 and redis.call('EXISTS', KEYS[1]) == 0 then return { 0, 0 } end
local used = redis.call('INCRBY', KEYS[1], by)
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { math.max(0, used), left }
`

/** Counts in Redis, which forgets a window by itself when it is over. */
export function createRedisUseStore(redis: Redis): UseStore {
  const answers = limitAnswers()
  return async ({ name, key, seconds, by }) => {
    answers.refuseWhileOverdue()
    const counted = redis.eval(countUse, 1, `uses:${name}:${seconds}:${key}`, by, seconds * 1000)
    const [used = 0, msBeforeNext = 0] = (await answers.inTime(counted)) as number[]
    return { used, msBeforeNext }
  }
}

/** now, who refused (0 nobody, 1 total, 2 success), wait, then remaining and reset of both; -1 remaining is no limit. */
function toVerdict({ limit }: RequestAsk, answer: number[]): RequestVerdict {
  const [at = 0, refused = 0, retryAfterMs = 0, totalLeft = -1, totalReset = 0, successLeft = -1, successReset = 0] =
    answer
  const standing = (most: number, remaining: number, resetMs: number): Standing | null =>
    remaining < 0 ? null : { limit: most, remaining, resetMs }
  return {
    at,
    refusedBy: refused === 1 ? 'total' : refused === 2 ? 'success' : null,
    retryAfterMs,
    total: standing(limit.total, totalLeft, totalReset),
    success: standing(limit.success, successLeft, successReset),
  }
}
