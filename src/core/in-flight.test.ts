import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('members join and leave in any order', () => {
  const inFlight = new InFlight<{ name: string }>()
  const names = () => [...inFlight].map(({ name }) => name).toSorted()
  const leave = ['a', 'b', 'c'].map((name) => inFlight.add({ name }))
  expect([inFlight.size, names()]).toEqual([3, ['a', 'b', 'c']])
  leave[1]?.()
  expect([inFlight.size, names()]).toEqual([2, ['a', 'c']])
  inFlight.add({ name: 'd' })
  expect([inFlight.size, names()]).toEqual([3, ['a', 'c', 'd']])
})

test('a member that leaves twice does not throw out who has its place now', () => {
  const inFlight = new InFlight<object>()
  const leave = inFlight.add({})
  leave()
  const second = {}
  const leaveSecond = inFlight.add(second)
  leave()
  expect([...inFlight]).toEqual([second])
  leaveSecond()
  leaveSecond()
  expect(inFlight.size).toBe(0)
})
