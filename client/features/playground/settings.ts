import { createStored } from '../../lib/stored.ts'

export type Settings = {
  group: string
  system: string
  temperature: number
  /** Some models take no temperature: it can be left to them. */
  temperatureSent: boolean
  /** 0: as many as the model gives. */
  maxTokens: number
}

export const temperatures = { from: 0.1, to: 1, step: 0.1 }

const firstSettings: Settings = {
  group: '',
  system: 'You are a helpful assistant.',
  temperature: 0.7,
  temperatureSent: true,
  maxTokens: 0,
}

export const storedSettings = createStored<Settings>('playground', {
  // What an older console kept may lack what this one reads.
  parse: (text) => ({ ...firstSettings, ...(JSON.parse(text) as Partial<Settings>) }),
  format: JSON.stringify,
  fallback: firstSettings,
})
