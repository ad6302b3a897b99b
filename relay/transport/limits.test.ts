import { expect, test, vi } from 'vitest'
import { createEndLimit } from './limits.ts'

const megabyte = 1_048_576

test.each([
  { choices: 1, most: 16 },
  { choices: 2, most: 128 },
])('of $choices answers $most MB may follow the first end, and no more', ({ choices, most }) => {
  const cancel = vi.fn<() => void>()
  const limit = createEndLimit({ cancel }, { idleTimeoutMs: 60_000, choices })
  for (let sent = 0; sent < most; sent += 1) limit.note({ bytes: megabyte, events: 1 })
  expect(cancel).not.toHaveBeenCalled()
  limit.note({ bytes: 1, events: 1 })
  expect(cancel).toHaveBeenCalled()
  limit.clear()
})

test('an answer alone is waited for as long as its upstream says something, and 30 seconds longer', () => {
  vi.useFakeTimers()
  try {
    const cancel = vi.fn<() => void>()
    const limit = createEndLimit({ cancel }, { idleTimeoutMs: 900_000, choices: 1 })
    for (let pause = 0; pause < 3; pause += 1) {
      limit.note({ bytes: 10, events: 1 })
      vi.advanceTimersByTime(29_000)
    }
    limit.note({ bytes: 10, events: 0 })
    expect(cancel).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1000)
    expect(cancel).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})
