import type { CallBody } from './reply.ts'

export const exportForms = ['curl', 'openai', 'anthropic'] as const
export type ExportForm = (typeof exportForms)[number]

const key = 'sk-…'

/** The call as any program may make it: a token has a group of its own, and the stream is left out for brevity. */
function plainBody({ group: _group, stream: _stream, stream_options: _options, ...body }: CallBody) {
  return body
}

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** JSON that is Python too: what differs between them does not occur in a call. */
const literal = (value: unknown): string => indent(JSON.stringify(value, null, 4), 4)

function curl(body: CallBody, base: string): string {
  const data = JSON.stringify(plainBody(body), null, 2).replaceAll("'", "'\\''")
  return `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${data}'`
}

function openai(body: CallBody, base: string): string {
  const parameters = Object.entries(plainBody(body)).map(([name, value]) => `    ${name}=${literal(value)},`)
  return `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
reply = client.chat.completions.create(
${parameters.join('\n')}
)
print(reply.choices[0].message.content)`
}

const mostTokens = 4096

function anthropic(body: CallBody, base: string): string {
  const { messages, max_tokens, ...rest } = plainBody(body)
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  const parameters = {
    ...rest,
    // This form does not work without a limit.
    max_tokens: max_tokens ?? mostTokens,
    ...(system.length > 0 && { system: system.join('\n') }),
    messages: messages.filter(({ role }) => role !== 'system'),
  }
  const lines = Object.entries(parameters).map(([name, value]) => `    ${name}=${literal(value)},`)
  return `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
reply = client.messages.create(
${lines.join('\n')}
)
print(reply.content[0].text)`
}

const makers = { curl, openai, anthropic }

export const exportCode = (form: ExportForm, body: CallBody, base: string): string => makers[form](body, base)
