import { describe, expect, it } from 'vitest'
import { createOptionsStore, type OptionRow } from './store.ts'

describe('the options store', () => {
  it('stands at the defaults until it is loaded, then follows the rows', async () => {
    const store = createOptionsStore({ load: async () => [{ key: 'RetryTimes', value: '7' }] })
    expect(store.get('RetryTimes')).toBe(2)
    await store.reload()
    expect(store.get('RetryTimes')).toBe(7)
  })

  it('notifies listeners which keys changed, and nothing when none did', async () => {
    let rows: OptionRow[] = [{ key: 'RetryTimes', value: '7' }]
    const store = createOptionsStore({ load: async () => rows })
    const reported: string[][] = []
    const stop = store.onChange((changed) => reported.push([...changed].toSorted()))
    await store.reload()
    await store.reload()
    rows = [{ key: 'Notice', value: 'hello' }]
    await store.reload()
    stop()
    rows = []
    await store.reload()
    expect(reported).toEqual([['RetryTimes'], ['Notice', 'RetryTimes']])
  })

  it('keeps the former options when loading fails and recovers with the next load', async () => {
    let fails = false
    const store = createOptionsStore({
      load: async () => {
        if (fails) throw new Error('database away')
        return [{ key: 'RetryTimes', value: '7' }]
      },
    })
    await store.reload()
    fails = true
    await expect(store.reload()).rejects.toThrow('database away')
    expect(store.get('RetryTimes')).toBe(7)
    fails = false
    await store.reload()
    expect(store.get('RetryTimes')).toBe(7)
  })

  it('lets no older load replace a newer one, and shows each caller what was stored before the call', async () => {
    let stored = 0
    let running = 0
    let most = 0
    const store = createOptionsStore({
      load: async () => {
        most = Math.max(most, ++running)
        const value = String(stored)
        await new Promise((resolve) => setTimeout(resolve, 3 - (stored % 3)))
        running--
        return [{ key: 'CheckInQuota', value }]
      },
    })
    const seen = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index % 7))
        const mine = ++stored
        await store.reload()
        return store.get('CheckInQuota') >= mine
      }),
    )
    expect(most).toBe(1)
    expect(seen).not.toContain(false)
    expect(store.get('CheckInQuota')).toBe(30)
  })

  it('reports options that cannot be read once, not at every reload', async () => {
    const reports: (readonly string[])[] = []
    const store = createOptionsStore({
      load: async () => [{ key: 'GroupRatio', value: '{' }],
      onUnreadable: (keys) => reports.push(keys),
    })
    await store.reload()
    await store.reload()
    expect(reports).toEqual([['GroupRatio']])
    expect(store.get('GroupRatio')['default']).toBe(1)
  })
})
