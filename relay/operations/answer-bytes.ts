import { drained } from '#relay/response/caller-stream.ts'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import { passHeaders } from '#relay/response/upstream-headers.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { isRecording, type PlainEnd } from './bill.ts'
import { failureOfEmpty, isEmptyAnswer } from './empty-answer.ts'
import { endWithError } from './end-with-error.ts'
import { drawsImages } from './images.ts'
import { malformed, type Try } from './send.ts'
import { type End, imagesAsked, sentBy, settle, usedBy } from './settle.ts'
import { shownEvent } from './shown-failure.ts'
import { createTrailingBuffer, type TrailingBuffer } from './trailing-buffer.ts'
import type { PlainCall } from './types.ts'
import { headLength, isJson, isPage, isText, isUndecided, longestError } from './unlike-answer.ts'

/** Audio, subtitles and event streams go through as they come; only the end waits for the settlement. */
export async function answerBytes(current: Try, reply: UpstreamReply, contentType: string): Promise<void> {
  const { call, translation } = current
  const { res, callerAborted } = call
  const isEventStream = contentType.includes('text/event-stream')
  const trailing = createTrailingBuffer(isEventStream, (event) => shownEvent(current, event))
  let firstByteMs: number | null = null
  let broken: unknown
  const progress = async (end: PlainEnd['end']): Promise<End> => {
    const drawn = drawsImages(call.asked) ? { images: trailing.images(), failed: trailing.failedImages() } : undefined
    return {
      used: await usedBy(current, { usage: trailing.usage(translation.usage), drawn, end }),
      drawn,
      firstByteMs,
      end,
    }
  }
  const start = (): void => {
    if (res.headersSent) return
    passHeaders(res, reply.headers)
    nameLosses(res, current.losses)
    res.status(200).setHeader('content-type', typeOf(call, contentType))
    res.flushHeaders()
  }
  const isSpeechAsText = call.asked.operation === 'speech' && contentType.startsWith('text/')
  try {
    for await (const chunk of isEventStream ? reply.body : withHead(reply.body, isSpeechAsText)) {
      if (firstByteMs === null && !isEventStream && isNoAnswer(chunk, isSpeechAsText)) throw malformed()
      firstByteMs ??= performance.now() - call.startedAt
      const due = trailing.push(chunk)
      if (due.length === 0 || callerAborted.signal.aborted) continue
      start()
      if (!res.write(due)) await drained(call)
    }
  } catch (error) {
    if (callerAborted.signal.aborted) {
      await settle(current, await progress('hung-up'))
      return
    }
    if (!res.headersSent) throw error
    broken = error
  }
  if (firstByteMs === null) throw malformed()
  const failure = isEventStream ? trailing.failure() : failureOfText(current, trailing)
  const undrawn = failure ?? trailing.failureOfImages()
  // Before the first byte another channel may answer.
  if (undrawn && !res.headersSent)
    throw new AttemptFailed(shapeFailure(current.services, current.attempt.channel, undrawn), { local: false })
  const hasEnded = (): boolean =>
    failure !== undefined ||
    trailing.ended(imagesAsked(sentBy(current), current)) ||
    (broken === undefined && isRecording(call) && trailing.hasSegmentsOnly())
  // An event stream says itself that it is over; of other bytes their end does.
  if (isEventStream ? !hasEnded() : broken !== undefined) {
    if (callerAborted.signal.aborted) return settle(current, await progress('hung-up'))
    const cause = broken ?? malformed()
    if (!res.headersSent) throw cause
    await settle(current, await progress('failed'))
    return isEventStream ? endWithError(current, trailing, cause) : void res.destroy()
  }
  await settle(current, await progress(undrawn ? 'failed' : 'complete'))
  start()
  res.end(trailing.rest())
}

/** Whether what begins so is a page, or words in the place of speech, which say why there is none. Errors in JSON are read to their end. */
const isNoAnswer = (head: Uint8Array, isSpeechAsText: boolean): boolean =>
  isPage(head) || (isSpeechAsText && isText(head) && !isJson(head))

/**
 * Bytes, of which the first come together, however they were cut, as far as it takes to tell what they are. What is said in JSON is read
 * to its end.
 */
async function* withHead(body: AsyncIterable<Uint8Array>, isSpeechAsText: boolean): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] | undefined = []
  let length = 0
  let head: Uint8Array = new Uint8Array()
  let isObject = false
  for await (const chunk of body) {
    if (!pieces) {
      yield chunk
      continue
    }
    pieces.push(chunk)
    length += chunk.length
    if (head.length < headLength) {
      head = Buffer.concat([head, chunk])
      isObject = isJson(head)
    }
    if (isObject ? length < longestError : isUndecided(head, isSpeechAsText)) continue
    yield Buffer.concat(pieces, length)
    pieces = undefined
  }
  if (pieces && length > 0) yield Buffer.concat(pieces, length)
}

/** What is announced as a page is none here, but speech or, as whisper.cpp writes it, a transcript. */
function typeOf({ asked }: PlainCall, contentType: string): string {
  if (contentType.includes('text/html') && isRecording({ asked })) return 'text/plain; charset=utf-8'
  return contentType === '' || contentType.includes('text/html') ? 'application/octet-stream' : contentType
}

const decoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

/** Some announce what went wrong as the text or the audio that was asked for. */
function failureOfText({ call: { res, asked } }: Try, trailing: TrailingBuffer): UpstreamFailure | undefined {
  if (res.headersSent) return undefined
  const bytes = trailing.rest()
  if (!isJson(bytes)) return undefined
  const answer = tryRecord(decoded(bytes))
  const failure = failureOfEmpty(asked.operation, answer)
  if (!failure && isEmptyAnswer(asked.operation, answer)) throw malformed()
  return failure
}
