import { expect, test } from 'vitest'
import { createPendingAudio } from './pending-audio.ts'

const start = () => createPendingAudio(() => 0)
type Audio = ReturnType<typeof start>

const restOf = (audio: Audio, all = true): number[] => audio.takeRest({ all }).map(({ seconds }) => seconds)
/** What so many pieces may come to: as recordings, a thousand tokens a minute. */
const tokensOf = (...lengths: number[]): number =>
  lengths.reduce((sum, seconds) => sum + Math.round((Math.ceil(seconds) * 1000) / 60), 0)

test('sound is unpaid until the text of its piece is complete, whatever was sent meanwhile', () => {
  const audio = start()
  audio.add(2)
  audio.mark(true)
  audio.add(600)
  audio.mark(true)
  expect(audio.unpaid).toEqual({ count: 2, tokens: tokensOf(2, 600), textTokens: 0 })
  audio.handIn('a')
  expect(audio.take('a').seconds).toBe(2)
  expect(audio.unpaid.tokens).toBe(tokensOf(600))
  audio.handIn('b')
  audio.add(1)
  expect(restOf(audio)).toEqual([600, 1])
  expect(audio.unpaid).toEqual({ count: 0, tokens: 0, textTokens: 0 })
})

test('an upstream that says of no piece that it has one answers all up to where the caller handed it in', () => {
  const audio = start()
  audio.add(2)
  audio.mark(true)
  audio.add(3)
  expect(audio.take('').seconds).toBe(2)
  expect(audio.take('').seconds).toBe(3)
  expect(audio.unpaid.count).toBe(0)
})

test('each piece is set aside by itself: as many short ones may cost more than their length together', () => {
  const audio = start()
  for (const item of ['a', 'b', 'c']) {
    audio.add(0.5)
    audio.mark(true)
    if (item !== 'c') audio.handIn(item)
  }
  expect(audio.unpaid).toMatchObject({ count: 3, tokens: tokensOf(1, 1, 1) })
})

test('pauses cost nothing where the upstream listens for them, and all that was sent does where it does not', () => {
  const audio = start()
  audio.add(100)
  expect(audio.unpaid.tokens).toBe(tokensOf(100))
  audio.setPauses(true)
  expect(audio.unpaid.tokens).toBe(0)
  audio.add(5)
  audio.beginSpeech(101)
  expect(audio.unpaid.tokens).toBe(tokensOf(4))
  audio.endSpeech(104)
  audio.add(50)
  audio.handIn('a')
  expect(audio.unpaid.tokens).toBe(tokensOf(3))
  audio.beginSpeech(undefined)
  audio.add(2)
  audio.handIn('b')
  expect(audio.take('a').seconds).toBe(3)
  audio.add(600)
  expect(restOf(audio)).toEqual([2])
})

test('a pause that its caller hands in is a piece all the same, and none that he leaves out', () => {
  const audio = start()
  audio.setPauses(true)
  audio.add(7)
  audio.mark(true)
  audio.add(5)
  audio.mark(false)
  expect(audio.unpaid.tokens).toBe(tokensOf(7))
  expect(restOf(audio)).toEqual([7])
})

test('what was left out costs nothing, unless the upstream has written something of it', () => {
  const audio = start()
  audio.add(5)
  audio.mark(false)
  audio.add(1)
  audio.leaveOut()
  expect(audio.unpaid.tokens).toBe(tokensOf(1))
  audio.add(7)
  audio.write('early', 3)
  audio.mark(false)
  audio.leaveOut()
  expect(audio.unpaid).toMatchObject({ tokens: tokensOf(8), textTokens: 3 })
})

test('an upstream that leaves is paid for what it has begun to write, and a caller who leaves pays all', () => {
  const handedIn = () => {
    const audio = start()
    audio.add(4)
    audio.handIn('a')
    audio.write('a', 2)
    audio.add(5)
    audio.handIn('b')
    audio.add(6)
    audio.mark(true)
    audio.add(1)
    return audio
  }
  expect(handedIn().takeRest({ all: false })).toMatchObject([{ seconds: 4, textTokens: 2 }])
  expect(restOf(handedIn())).toEqual([4, 5, 6, 1])
})

test('what was not sent after all is not counted, nor a mark that the upstream refused', () => {
  const audio = start()
  const takeBack = audio.add(5)
  takeBack()
  expect(audio.unpaid.tokens).toBe(0)
  audio.add(1)
  audio.mark(true)
  audio.refuse(undefined, true)
  audio.add(2)
  audio.mark(true, 'first')
  audio.add(3)
  audio.mark(true, 'second')
  audio.refuse('another', false)
  audio.refuse('first', false)
  audio.handIn('a')
  expect(audio.take('a').seconds).toBe(6)
})

test('what is written for long before it is handed in is paid in whole half minutes, and the rest is of the same piece', () => {
  const audio = start()
  audio.add(29)
  audio.write('a', 4)
  expect(audio.isLong).toBe(false)
  audio.add(36.5)
  expect(audio.isLong).toBe(true)
  expect(audio.takeLong()).toMatchObject({ seconds: 60, textTokens: 4, paid: { seconds: 0 } })
  expect(audio.unpaid).toMatchObject({ tokens: tokensOf(5.5), textTokens: 0 })
  audio.add(30)
  expect(audio.takeLong()).toMatchObject({ seconds: 30, textTokens: 0, paid: { seconds: 60, textTokens: 4 } })
  audio.mark(true)
  audio.handIn('a')
  expect(audio.take('a')).toMatchObject({ seconds: 5.5, paid: { seconds: 90, textTokens: 4 } })
  audio.add(1)
  expect(audio.take('b')).toMatchObject({ seconds: 1, paid: { seconds: 0 } })
})

test('a place that no sound can have is the end of what was sent', () => {
  const audio = start()
  audio.setPauses(true)
  audio.add(3)
  audio.beginSpeech(-5)
  audio.endSpeech(1e9)
  audio.handIn('a')
  expect(audio.take('a').seconds).toBe(3)
})
