import type { TimeLimits } from '#relay/transport/limits.ts'

/** Limits of one upstream call; a channel's `setting` may change each, in seconds. */
export function timeoutsOf(setting: Record<string, unknown>, stream: boolean): TimeLimits {
  const milliseconds = (name: string, presetSeconds: number): number => {
    const value = setting[name]
    return (typeof value === 'number' && value > 0 ? value : presetSeconds) * 1000
  }
  return {
    connectTimeoutMs: milliseconds('connect_timeout', 10),
    firstByteTimeoutMs: milliseconds('first_byte_timeout', stream ? 300 : 600),
    idleTimeoutMs: milliseconds('idle_timeout', 900),
  }
}
