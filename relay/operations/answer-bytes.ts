import { drained } from '#relay/response/caller-stream.ts'
import { AttemptFailed } from '#relay/attempt/failure.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { nameLosses } from '#relay/chat/losses.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { tryRecord } from '#relay/providers/shared/json.ts'
import { passHeaders } from '#relay/response/upstream-headers.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { isRecording, type PlainEnd } from './bill.ts'
import { failureOfEmpty } from './empty-answer.ts'
import { endWithError } from './end-with-error.ts'
import { drawsImages } from './images.ts'
import { malformed, type Try } from './send.ts'
import { type End, imagesAsked, sentBy, settle, usedBy } from './settle.ts'
import { shownEvent } from './shown-failure.ts'
import { createTrailingBuffer, type TrailingBuffer } from './trailing-buffer.ts'

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
    res.status(200).setHeader('content-type', contentType || 'application/octet-stream')
    res.flushHeaders()
  }
  try {
    for await (const chunk of reply.body) {
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

/** Some announce what went wrong as the text or the audio that was asked for. */
function failureOfText({ call: { res, asked } }: Try, trailing: TrailingBuffer): UpstreamFailure | undefined {
  if (res.headersSent) return undefined
  const text = Buffer.from(trailing.rest()).toString('utf8').trim()
  return text.startsWith('{') ? failureOfEmpty(asked.operation, tryRecord(text)) : undefined
}
