import type { TOTP } from 'otpauth'

/** Half an hour in steps of half a minute, before now and after. */
const steps = 60

/** What an app that shows one-time passwords shows at no time near this one. */
export function wrongPassword(generator: TOTP): string {
  const right = new Set<string>()
  for (let step = -steps; step <= steps; step += 1)
    right.add(generator.generate({ timestamp: Date.now() + step * 30_000 }))
  let wrong = 0
  while (right.has(String(wrong).padStart(6, '0'))) wrong += 1
  return String(wrong).padStart(6, '0')
}
