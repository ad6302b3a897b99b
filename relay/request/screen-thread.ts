import { parentPort } from 'node:worker_threads'
import { screenOf } from '#core/screening/screen.ts'
import type { ScreenAnswer, ScreenOrder } from './screener.ts'

/** The thread that looks long texts through, one order after another. */
const say = (answer: ScreenAnswer): void => parentPort?.postMessage(answer)

parentPort?.on('message', ({ list, texts }: ScreenOrder) => say({ found: screenOf(list).find(texts) }))
say('ready')
