import type { TimeLimits } from '#relay/transport/limits.ts'

/** Seconds. A person or a job waits for a probe, so it waits less long than a caller would, and for its end too. */
const longestProbe = 300
const presets = {
  stream: { firstByte: 300, idle: 900 },
  unstreamed: { firstByte: 600, idle: 900 },
  probe: { firstByte: 60, idle: 60 },
}

/** Limits of one upstream call; a channel's `setting` may change each, in seconds. */
export function timeoutsOf(setting: Readonly<Record<string, unknown>>, kind: keyof typeof presets): TimeLimits {
  const milliseconds = (name: string, presetSeconds: number): number => {
    const value = setting[name]
    return (typeof value === 'number' && value > 0 ? value : presetSeconds) * 1000
  }
  return {
    connectTimeoutMs: milliseconds('connect_timeout', 10),
    firstByteTimeoutMs: milliseconds('first_byte_timeout', presets[kind].firstByte),
    idleTimeoutMs: milliseconds('idle_timeout', presets[kind].idle),
    ...(kind === 'probe' ? { totalTimeoutMs: longestProbe * 1000 } : {}),
  }
}

/** One limit for the whole of a call and each of its stages, whatever the channel's settings say. */
export const endsWithin = (timeoutMs: number): TimeLimits => ({
  connectTimeoutMs: timeoutMs,
  firstByteTimeoutMs: timeoutMs,
  idleTimeoutMs: timeoutMs,
  totalTimeoutMs: timeoutMs,
})
