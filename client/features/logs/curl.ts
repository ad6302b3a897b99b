import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { LogDetails } from './details.ts'

type Asked = { base: string; model: string; isStream: boolean; details: LogDetails }

const sample = 'Hello'

/** A single quote ends a shell's text, is given by itself, and begins it anew. */
const inQuotes = (text: string): string => text.replaceAll("'", "'\\''")

type Message = { role: string; content: string }

/** The conversation where it was stored; a greeting where it was not. */
function conversationOf({ context = [], input_content: input }: LogDetails): Message[] {
  if (input === undefined || input === '') return [{ role: 'user', content: sample }]
  return [...context, typeof input === 'string' ? { role: 'user', content: input } : input]
}

type Wire = { path: string; headers: string[]; body: unknown }

const bearer = 'Authorization: Bearer $API_KEY'

function wireOf({ model, isStream, details }: Asked): Wire {
  const messages = conversationOf(details)
  const system = details.system_prompt || undefined
  const stream = isStream || undefined
  switch (details.dialect) {
    case 'claude':
      return {
        path: '/v1/messages',
        headers: ['x-api-key: $API_KEY', 'anthropic-version: 2023-06-01'],
        body: { model, max_tokens: 1024, stream, system, messages },
      }
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        headers: ['x-goog-api-key: $API_KEY'],
        body: {
          ...(system ? { systemInstruction: { parts: [{ text: system }] } } : {}),
          contents: messages.map(({ role, content }) => ({
            role: role === 'assistant' ? 'model' : 'user',
            parts: [{ text: content }],
          })),
        },
      }
    case 'openai-responses':
      return {
        path: '/v1/responses',
        headers: [bearer],
        body: { model, stream, instructions: system, input: messages },
      }
    case 'openai-completions':
      return {
        path: '/v1/completions',
        headers: [bearer],
        body: { model, stream, prompt: messages.at(-1)?.content ?? sample },
      }
    default:
      return {
        path: '/v1/chat/completions',
        headers: [bearer],
        body: { model, stream, messages: [...(system ? [{ role: 'system', content: system }] : []), ...messages] },
      }
  }
}

/** The call again, in the caller's own dialect, for a shell whose `API_KEY` holds the key: no key is ever in it. */
export function curlOf(asked: Asked): string {
  const { path, headers, body } = wireOf(asked)
  const lines = [...headers, 'Content-Type: application/json'].map((header) => `  -H "${header}" \\`)
  return [
    `curl ${withoutTrailingSlashes(asked.base)}${path} \\`,
    ...lines,
    `  -d '${inQuotes(JSON.stringify(body, null, 2))}'`,
  ].join('\n')
}
