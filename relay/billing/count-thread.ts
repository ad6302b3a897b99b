import { parentPort } from 'node:worker_threads'
import { parseBuffer } from 'music-metadata'
import { collectGarbage } from '#core/collect-garbage.ts'
import { aiffSeconds, auSeconds } from '#relay/counting/aiff-length.ts'
import { amrSeconds } from '#relay/counting/amr-length.ts'
import { cafSeconds } from '#relay/counting/caf-length.ts'
import { countText } from '#relay/counting/count-text.ts'
import { flacSeconds } from '#relay/counting/flac-length.ts'
import { mp3Seconds } from '#relay/counting/mp3-length.ts'
import { mp4Seconds } from '#relay/counting/mp4-length.ts'
import { oggSeconds } from '#relay/counting/ogg-length.ts'
import { wavSeconds } from '#relay/counting/wav-length.ts'
import { webmSeconds } from '#relay/counting/webm-length.ts'
import type { CountAnswer, CountOrder } from './token-counter.ts'

/** The thread that counts. Orders take turns piece by piece, so that a long one does not hold up short ones. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Short texts are counted in a row up to so many characters. */
const charactersOfTurn = 16_384

async function tokensOf(texts: readonly string[], model: string): Promise<number> {
  let tokens = 0
  let since = 0
  for (const text of texts) {
    tokens += await countText(text, model, nextTurn)
    since += text.length
    if (since < charactersOfTurn) continue
    since = 0
    await nextTurn()
  }
  return tokens
}

/**
 * Its bytes tell what a file is, else its sender; it is looked through to its end where it does not state its length, and where what
 * it states is less than it plays.
 */
async function secondsOf(bytes: Uint8Array, mediaType: string): Promise<number | null> {
  const read = (mimeType?: string) => parseBuffer(bytes, mimeType, { duration: true, skipCovers: true })
  const readers = [webmSeconds, mp4Seconds, wavSeconds, aiffSeconds, auSeconds, amrSeconds, cafSeconds]
  let own: number | undefined
  for (const reader of readers) own ??= reader(bytes)
  if (own !== undefined) return own > 0 ? own : null
  // A header that cannot be read may stand before audio that can.
  const format = await read()
    .catch(() => read(mediaType))
    .then((found) => found.format)
    .catch(() => undefined)
  const { duration = 0, container = 'MPEG' } = format ?? {}
  const least = oggSeconds(bytes) ?? flacSeconds(bytes) ?? (container === 'MPEG' ? mp3Seconds(bytes) : undefined)
  const seconds = Math.max(Number.isFinite(duration) ? duration : 0, least ?? 0)
  return seconds > 0 ? seconds : null
}

const measure = (order: CountOrder): Promise<number | null> =>
  order.kind === 'texts' ? tokensOf(order.texts, order.model) : secondsOf(order.bytes, order.mediaType)

/**
 * So long after the last order what the orders left behind is collected: the texts of hundreds of answers, which the engine would keep
 * for minutes. Nobody but this thread waits for it.
 */
const silentMs = 5000
let collecting: NodeJS.Timeout | undefined
const collectWhenSilent = (): void => {
  if (!collectGarbage) return
  collecting ??= setTimeout(() => {
    collecting = undefined
    collectGarbage?.()
  }, silentMs).unref()
  collecting.refresh()
}

parentPort?.on('message', (order: CountOrder) => {
  const answer = (value: number | null): void => {
    parentPort?.postMessage({ id: order.id, value } satisfies CountAnswer)
    collectWhenSilent()
  }
  measure(order).then(answer, () => answer(null))
})
