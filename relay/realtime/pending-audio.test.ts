import { expect, test } from 'vitest'
import { createPendingAudio } from './pending-audio.ts'

const start = () => createPendingAudio(() => 0)

test('sound is unpaid until the text of its piece is complete, whatever was sent meanwhile', () => {
  const audio = start()
  audio.add(2)
  audio.mark()
  audio.add(600)
  audio.mark()
  audio.handIn('a')
  expect(audio.take('a').seconds).toBe(2)
  expect(audio.unpaid.seconds).toBe(600)
  audio.handIn('b')
  audio.add(1)
  expect(audio.takeRest({ all: true }).seconds).toBe(601)
  expect(audio.unpaid.seconds).toBe(0)
})

test('an upstream that says of no piece that it has one answers all up to where the caller handed it in', () => {
  const audio = start()
  audio.add(2)
  audio.mark()
  audio.add(3)
  expect(audio.take('').seconds).toBe(2)
  expect(audio.take('').seconds).toBe(3)
  expect(audio.unpaid.seconds).toBe(0)
})

test('pauses cost nothing where the upstream listens for them, and all that was sent does where it does not', () => {
  const audio = start()
  audio.add(100)
  expect(audio.unpaid.seconds).toBe(100)
  audio.setPauses(true)
  expect(audio.unpaid.seconds).toBe(0)
  audio.add(5)
  audio.beginSpeech(101)
  expect(audio.unpaid.seconds).toBe(4)
  audio.endSpeech(104)
  audio.add(50)
  audio.handIn('a')
  expect(audio.unpaid.seconds).toBe(3)
  audio.beginSpeech(undefined)
  audio.add(2)
  audio.handIn('b')
  expect(audio.take('a').seconds).toBe(3)
  expect(audio.takeRest({ all: true }).seconds).toBe(2)
})

test('what was left out costs nothing, unless the upstream has written something of it', () => {
  const audio = start()
  audio.add(5)
  audio.mark()
  audio.add(1)
  audio.leaveOut()
  expect(audio.unpaid.seconds).toBe(1)
  audio.add(7)
  audio.write('early', 3)
  audio.mark()
  audio.leaveOut()
  expect(audio.unpaid).toMatchObject({ seconds: 8, textTokens: 3 })
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
    return audio
  }
  expect(handedIn().takeRest({ all: false })).toMatchObject({ seconds: 4, textTokens: 2 })
  expect(handedIn().takeRest({ all: true }).seconds).toBe(15)
})

test('what was not sent after all is not counted, nor a mark that the upstream refused', () => {
  const audio = start()
  const takeBack = audio.add(5)
  takeBack()
  expect(audio.unpaid.seconds).toBe(0)
  audio.add(1)
  audio.mark()
  audio.dropMark()
  audio.add(2)
  audio.mark()
  audio.handIn('a')
  expect(audio.take('a').seconds).toBe(3)
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
