import { expect, test } from 'vitest'
import { createLimits } from './service.ts'
import { createUseStore } from './use-store.ts'

const use = (key: string, by: 1 | -1 = 1) => ({ name: 'login', key, seconds: 900, by })

test('half a million addresses leave two hundred thousand remembered: those seen last, one that keeps guessing among them', async () => {
  const count = createUseStore(() => 0)
  for (let address = 0; address < 500_000; address += 1) {
    await count(use(`2001:db8:${address.toString(16)}::/64`))
    if (address % 50_000 === 0) await count(use('10.0.0.1'))
  }
  expect((await count(use('10.0.0.1'))).used).toBe(11)
  expect((await count(use(`2001:db8:${(499_999).toString(16)}::/64`))).used).toBe(2)
  expect((await count(use(`2001:db8:${(350_000).toString(16)}::/64`))).used).toBe(2)
  expect((await count(use(`2001:db8:${(290_000).toString(16)}::/64`))).used).toBe(1)
})

test('a flood of one kind of use makes no other kind forget', async () => {
  const count = createUseStore(() => 0)
  await count(use('root'))
  for (let address = 0; address < 250_000; address += 1) await count({ ...use(String(address)), name: 'mails' })
  expect((await count(use('root'))).used).toBe(2)
})

test('a window opens with the first use, ends for all of them, and what is taken back was not used', async () => {
  let at = 0
  const count = createUseStore(() => at)
  expect(await count(use('a', -1))).toEqual({ used: 0, msBeforeNext: 0 })
  expect(await count(use('a'))).toEqual({ used: 1, msBeforeNext: 900_000 })
  at = 899_999
  expect(await count(use('a'))).toEqual({ used: 2, msBeforeNext: 1 })
  expect((await count(use('a', -1))).used).toBe(1)
  at = 900_000
  expect(await count(use('a'))).toEqual({ used: 1, msBeforeNext: 900_000 })
})

test('a limit of five lets exactly five of twenty attempts made at once through, and says when the next may come', async () => {
  const limits = createLimits({ now: () => 0 })
  const limit = { name: 'mails', key: 'a@x.example', points: 5, seconds: 3600 }
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => limits.consume(limit)))
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(5)
  expect(verdicts.at(-1)).toEqual({ allowed: false, used: 20, retryAfterSeconds: 3600 })
})
