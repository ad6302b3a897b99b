import { emptyUsage, reportsOutput, type Usage } from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { AskedResponse } from './asked-responses.ts'
import { inputAudioTokens, outputAudioTokens } from './audio-format.ts'
import type { InputCount, InputSize } from './input-count.ts'

/** When the model began to work on a response, and when its first part came; `performance.now()`. */
export type ResponseTimes = { startedAt: number | null; firstPartAt: number | null }

export const timesOf = ([first]: readonly ResponseTimes[]): ResponseTimes => ({
  startedAt: first?.startedAt ?? null,
  firstPartAt: first?.firstPartAt ?? null,
})

export type Tokens = { text: number; audio: number }

/** A response that is paid by estimate: begun where it is known what it reads. */
export type Reading = Pick<AskedResponse, 'own' | 'reads'>

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
export const secondsIn = (answers: readonly { seconds: number }[]): number =>
  sumOf(answers.map(({ seconds }) => seconds))
export const noTokens: Readonly<Tokens> = { text: 0, audio: 0 }
export const totalOf = ({ text, audio }: Tokens): number => text + audio
export const cheapCountOf = (texts: readonly string[]): number => sumOf(texts.map(cheapTextTokens))

async function takeTokens(count: InputCount): Promise<Tokens> {
  const { text, seconds } = await count.take()
  return { text, audio: inputAudioTokens(seconds) }
}

/**
 * What the input of these responses comes to. What is new in the conversation is counted well once, and cheaply for whoever else
 * reads it.
 */
export async function takeInput(conversation: InputCount, reading: readonly Reading[]): Promise<Tokens> {
  const [added, own] = await Promise.all([
    takeTokens(conversation),
    Promise.all(reading.map((one) => takeTokens(one.own.count))),
  ])
  const readers = reading.flatMap(({ reads, own: { readsConversation } }) =>
    reads && readsConversation ? [reads] : [],
  )
  const [largest, ...others] = readers.map((one) => one.added).toSorted((one, other) => totalOf(other) - totalOf(one))
  // Nothing is left to be counted of what another response has read and paid.
  const first = totalOf(added) > 0 ? added : (largest ?? added)
  const parts = [first, ...others, ...own, ...readers.map((one) => one.context)]
  return { text: sumOf(parts.map(({ text }) => text)), audio: sumOf(parts.map(({ audio }) => audio)) }
}

/** By the cheap count: each of those that read reads the conversation, and what it was given itself. */
export function usageSoFar(
  conversation: Tokens,
  { own, open }: { own: readonly InputSize[]; open: readonly { text: number; seconds: number }[] },
): Usage {
  // Not every upstream heeds that a response has input of its own: for each the conversation is set aside.
  const readers = Math.max(1, own.length)
  const audioInputTokens = readers * conversation.audio + inputAudioTokens(secondsIn(own))
  const audioOutputTokens = outputAudioTokens(secondsIn(open))
  return {
    ...emptyUsage,
    promptTokens: readers * conversation.text + sumOf(own.map(({ text }) => text)) + audioInputTokens,
    audioInputTokens,
    completionTokens: sumOf(open.map(({ text }) => text)) + audioOutputTokens,
    audioOutputTokens,
  }
}

/** What a response beside the conversation has read of that: what it reports, without what it was given itself. */
export function readBeside(usage: Usage, [only, ...others]: readonly Pick<Reading, 'own'>[]): Tokens {
  if (!only?.own.readsConversation || only.own.readsUnseen || others.length > 0) return noTokens
  const { text, seconds } = only.own.size
  const { promptTokens, audioInputTokens } = usage
  return { text: promptTokens - audioInputTokens - text, audio: audioInputTokens - inputAudioTokens(seconds) }
}

/** A reported usage with what was counted here in the place of figures that are missing. */
export const withCounted = (usage: Usage, { read, written }: { read: Tokens | undefined; written: Tokens }): Usage => ({
  ...usage,
  ...(read ? { promptTokens: totalOf(read), audioInputTokens: read.audio } : {}),
  ...(reportsOutput(usage) ? {} : { completionTokens: totalOf(written), audioOutputTokens: written.audio }),
})

/** Of a reported usage, what is paid where only so much of the answer was delivered. */
export function deliveredOf(usage: Usage, delivered: Tokens): Usage {
  const completionTokens = Math.min(usage.completionTokens, totalOf(delivered))
  const audioOutputTokens = Math.min(usage.audioOutputTokens, delivered.audio, completionTokens)
  return {
    ...usage,
    completionTokens,
    audioOutputTokens,
    reasoningTokens: Math.min(usage.reasoningTokens, completionTokens),
    imageOutputTokens: Math.min(usage.imageOutputTokens, completionTokens - audioOutputTokens),
  }
}
