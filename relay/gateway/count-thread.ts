import { parentPort } from 'node:worker_threads'
import { countText } from '#relay/counting/count-text.ts'
import type { CountAnswer, CountOrder } from './token-counter.ts'

/** The thread that counts. Orders take turns piece by piece, so that a long one does not hold up short ones. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Short texts are counted in a row up to so many characters. */
const charactersOfTurn = 16_384

async function count({ texts, model }: CountOrder): Promise<number> {
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

parentPort?.on('message', (order: CountOrder) => {
  void count(order).then(
    (tokens) => parentPort?.postMessage({ id: order.id, tokens } satisfies CountAnswer),
    () => parentPort?.postMessage({ id: order.id, tokens: null } satisfies CountAnswer),
  )
})
