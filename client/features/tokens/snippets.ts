export type Snippet = { title: string; code: string }

export const clients = [
  'curl',
  'openai',
  'anthropic',
  'gemini',
  'claude-code',
  'codex',
  'gemini-cli',
  'opencode',
  'cursor',
  'cherry-studio',
] as const
export type Client = (typeof clients)[number]

export const clientNames: Record<Client, string> = {
  curl: 'curl',
  openai: 'OpenAI SDK',
  anthropic: 'Anthropic SDK',
  gemini: 'Gemini SDK',
  'claude-code': 'Claude Code',
  codex: 'Codex CLI',
  'gemini-cli': 'Gemini CLI',
  opencode: 'opencode',
  cursor: 'Cursor',
  'cherry-studio': 'Cherry Studio',
}

export type Access = {
  /** Of the gateway, without a path. */
  base: string
  /** With `sk-`. */
  key: string
  model: string
}

/** A single quote ends a shell's text, is given by itself, and begins it anew. */
const inQuotes = (text: string): string => text.replaceAll("'", "'\\''")

const curl = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Shell',
    code: `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${inQuotes(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }))}'`,
  },
]

const openai = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Python',
    code: `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`,
  },
  {
    title: 'Node.js',
    code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: '${key}' })
const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(reply.choices[0].message.content)`,
  },
]

const anthropic = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Python',
    code: `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
reply = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.content[0].text)`,
  },
  {
    title: 'Node.js',
    code: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${base}', apiKey: '${key}' })
const reply = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(reply.content)`,
  },
]

const gemini = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Python',
    code: `from google import genai
from google.genai import types

client = genai.Client(
    api_key="${key}",
    http_options=types.HttpOptions(base_url="${base}"),
)
reply = client.models.generate_content(model="${model}", contents="Hello")
print(reply.text)`,
  },
  {
    title: 'Node.js',
    code: `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({
  apiKey: '${key}',
  httpOptions: { baseUrl: '${base}' },
})
const reply = await client.models.generateContent({ model: '${model}', contents: 'Hello' })
console.log(reply.text)`,
  },
]

const claudeCode = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Shell',
    // A key of the vendor's would be sent beside this one.
    code: `unset ANTHROPIC_API_KEY
export ANTHROPIC_BASE_URL="${base}"
export ANTHROPIC_AUTH_TOKEN="${key}"
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${model}"
claude`,
  },
  {
    title: '~/.claude/settings.json',
    code: JSON.stringify(
      {
        env: {
          ANTHROPIC_BASE_URL: base,
          ANTHROPIC_AUTH_TOKEN: key,
          ANTHROPIC_MODEL: model,
          // Writes titles and summaries; by default one of the vendor's, which the gateway may not have.
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        },
      },
      null,
      2,
    ),
  },
]

const codex = ({ base, key, model }: Access): Snippet[] => [
  {
    title: '~/.codex/config.toml',
    code: `model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "Gateway"
base_url = "${base}/v1"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"`,
  },
  { title: 'Shell', code: `export GATEWAY_API_KEY="${key}"\ncodex` },
]

const geminiCli = ({ base, key, model }: Access): Snippet[] => [
  {
    title: 'Shell',
    code: `export GOOGLE_GEMINI_BASE_URL="${base}"
export GEMINI_API_KEY="${key}"
export GEMINI_MODEL="${model}"
gemini`,
  },
  {
    title: '~/.gemini/settings.json',
    code: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2),
  },
]

const opencode = ({ base, key, model }: Access): Snippet[] => [
  {
    title: '~/.config/opencode/opencode.json',
    code: JSON.stringify(
      {
        $schema: 'https://opencode.ai/config.json',
        provider: {
          gateway: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Gateway',
            options: { baseURL: `${base}/v1`, apiKey: key },
            models: { [model]: { name: model } },
          },
        },
        model: `gateway/${model}`,
      },
      null,
      2,
    ),
  },
]

const makers: Partial<Record<Client, (access: Access) => Snippet[]>> = {
  curl,
  openai,
  anthropic,
  gemini,
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  opencode,
}

/** What to paste, ready as it is; none for programs that are set up in their own windows. */
export const snippetsFor = (client: Client, access: Access): Snippet[] => makers[client]?.(access) ?? []
