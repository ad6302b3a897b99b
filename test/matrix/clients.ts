import { type AiDialect, aiClient, aiFacts } from '#test/sdk/clients/ai.ts'
import { anthropicClient, anthropicFacts } from '#test/sdk/clients/anthropic.ts'
import type { Client, ClientFacts } from '#test/sdk/clients/client.ts'
import { googleClient, googleFacts } from '#test/sdk/clients/google.ts'
import { openAiClient, openAiFacts } from '#test/sdk/clients/openai.ts'
import { openAiResponsesClient, openAiResponsesFacts } from '#test/sdk/clients/openai-responses.ts'

export type MatrixClient = {
  id: string
  label: string
  create: (url: string, key: string) => Client
  facts: ClientFacts
}

const viaAi = (id: string, label: string, dialect: AiDialect): MatrixClient => ({
  id,
  label,
  create: (url, key) => aiClient(dialect, url, key),
  facts: aiFacts,
})

/** The programs that callers write with: the vendors' own libraries, and the one that knows all of them. */
export const clients = [
  { id: 'openai-chat', label: '`openai`, chat completions', create: openAiClient, facts: openAiFacts },
  { id: 'openai-responses', label: '`openai`, responses', create: openAiResponsesClient, facts: openAiResponsesFacts },
  { id: 'anthropic', label: '`@anthropic-ai/sdk`', create: anthropicClient, facts: anthropicFacts },
  { id: 'google', label: '`@google/genai`', create: googleClient, facts: googleFacts },
  viaAi('ai-openai-chat', '`ai` with `@ai-sdk/openai`, chat', 'openai chat'),
  viaAi('ai-openai-responses', '`ai` with `@ai-sdk/openai`, responses', 'openai responses'),
  viaAi('ai-anthropic', '`ai` with `@ai-sdk/anthropic`', 'anthropic'),
  viaAi('ai-google', '`ai` with `@ai-sdk/google`', 'google'),
] as const satisfies MatrixClient[]

export type ClientId = (typeof clients)[number]['id']
