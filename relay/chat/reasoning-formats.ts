import type { DialectId } from './request.ts'

/** `format` of `reasoning_details`, by which chat completions name the vendor whose reasoning it is. */
const formats: Readonly<Record<DialectId, string>> = {
  claude: 'anthropic-claude-v1',
  gemini: 'google-gemini-v1',
  'openai-responses': 'openai-responses-v1',
  'openai-chat': 'unknown',
}

export const reasoningFormatOf = (dialect: DialectId): string => formats[dialect]

export const dialectOfReasoning = (format: unknown): DialectId =>
  (Object.keys(formats) as DialectId[]).find((dialect) => formats[dialect] === format) ?? 'openai-chat'
