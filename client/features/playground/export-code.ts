import { anthropicBody, type Converted, googleBody, openAiBody } from './export-forms.ts'
import type { CallBody } from './reply.ts'
import { javaScriptLiteral, pythonLiteral, shellQuoted } from './literals.ts'

export const exportForms = ['openai', 'anthropic', 'google'] as const
export type ExportForm = (typeof exportForms)[number]
export const exportLanguages = ['curl', 'python', 'node'] as const
export type ExportLanguage = (typeof exportLanguages)[number]

const key = 'sk-…'

const curl = (address: string, headers: readonly string[], body: Converted): string =>
  [
    `curl ${shellQuoted(address)} \\`,
    ...[...headers, 'Content-Type: application/json'].map((header) => `  -H ${shellQuoted(header)} \\`),
    `  -d ${shellQuoted(JSON.stringify(body, null, 2))}`,
  ].join('\n')

/** Named arguments, one a line. */
const keywords = (body: Converted): string =>
  Object.entries(body)
    .map(([name, value]) => `    ${name}=${pythonLiteral(value, 4)},`)
    .join('\n')

type Maker = (body: CallBody, base: string) => string

const openAi: Record<ExportLanguage, Maker> = {
  curl: (body, base) => curl(`${base}/v1/chat/completions`, [`Authorization: Bearer ${key}`], openAiBody(body)),
  python: (body, base) => `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
reply = client.chat.completions.create(
${keywords(openAiBody(body))}
)
print(reply.choices[0].message)`,
  node: (body, base) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: '${key}' })
const reply = await client.chat.completions.create(${javaScriptLiteral(openAiBody(body))})
console.log(reply.choices[0].message)`,
}

const anthropic: Record<ExportLanguage, Maker> = {
  curl: (body, base) =>
    curl(`${base}/v1/messages`, [`x-api-key: ${key}`, 'anthropic-version: 2023-06-01'], anthropicBody(body)),
  python: (body, base) => `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
reply = client.messages.create(
${keywords(anthropicBody(body))}
)
print(reply.content)`,
  node: (body, base) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${base}', apiKey: '${key}' })
const reply = await client.messages.create(${javaScriptLiteral(anthropicBody(body))})
console.log(reply.content)`,
}

const google: Record<ExportLanguage, Maker> = {
  curl: (body, base) =>
    curl(
      `${base}/v1beta/models/${encodeURIComponent(body.model)}:generateContent`,
      [`x-goog-api-key: ${key}`],
      googleBody(body, 'wire'),
    ),
  python: (body, base) => `from google import genai
from google.genai import types

client = genai.Client(api_key="${key}", http_options=types.HttpOptions(base_url="${base}"))
reply = client.models.generate_content(
${keywords({ model: body.model, ...googleBody(body, 'python') })}
)
print(reply.text or reply.function_calls)`,
  node: (body, base) => `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({ apiKey: '${key}', httpOptions: { baseUrl: '${base}' } })
const reply = await client.models.generateContent(${javaScriptLiteral({
    model: body.model,
    ...googleBody(body, 'node'),
  })})
console.log(reply.text ?? reply.functionCalls)`,
}

const makers: Record<ExportForm, Record<ExportLanguage, Maker>> = { openai: openAi, anthropic, google }

export const exportCode = (
  { form, language }: { form: ExportForm; language: ExportLanguage },
  body: CallBody,
  base: string,
): string => makers[form][language](body, base)
