import { perReader, readerKey } from '../../lib/reader-storage.ts'
import { createStored, createStoredJson } from '../../lib/stored.ts'
import type { FunctionTool } from './tools.ts'

export type Settings = {
  group: string
  system: string
  temperature: number
  /** Some models take no temperature: it can be left to them. */
  temperatureSent: boolean
  topP: number
  topPSent: boolean
  /** 0: as many as the model gives. */
  maxTokens: number
  frequencyPenalty: number
  presencePenalty: number
  /** Null: another answer each time. */
  seed: number | null
  /** Empty: as much as the model thinks by itself. */
  effort: string
  tools: readonly FunctionTool[]
}

export const temperatures = { from: 0.1, to: 1, step: 0.1 }
export const shares = { from: 0.05, to: 1, step: 0.05 }
export const penalties = { from: -2, to: 2, step: 0.1 }

export const firstSettings: Settings = {
  group: '',
  system: 'You are a helpful assistant.',
  temperature: 0.7,
  temperatureSent: true,
  topP: 1,
  topPSent: false,
  maxTokens: 0,
  frequencyPenalty: 0,
  presencePenalty: 0,
  seed: null,
  effort: '',
  tools: [],
}

/** A reader's own: a system prompt and tools say as much of their author as what was said. */
export const settingsOf = perReader((userId) =>
  createStored<Settings>(readerKey('playground-settings', userId), {
    // What an older console stored may lack what this one reads.
    parse: (text) => ({ ...firstSettings, ...(JSON.parse(text) as Partial<Settings>) }),
    format: JSON.stringify,
    fallback: firstSettings,
  }),
)

/** An older console kept those of all readers as one: nobody knows whose they are. */
createStoredJson<null>('playground', null).set(null)
