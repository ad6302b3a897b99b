/** Model names the simulated vendors list. Any other name is served too. */
export const modelNames = {
  openai: ['gpt-4o', 'gpt-4o-mini', 'gpt-5', 'o4-mini', 'text-embedding-3-small'],
  anthropic: ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-haiku-4-5'],
  gemini: ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-embedding-001'],
} as const

/** The release date of every listed model. */
export const releasedAt = new Date('2026-01-15T00:00:00Z')
