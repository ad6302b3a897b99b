import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

/** Where a program is asked to find the gateway. */
export type Gateway = { url: string; key: string; model: string }

/** A coding agent as its package installs it. */
export type Program = {
  name: string
  /** On npm. */
  package: string
  command: string
  /** The channel type that speaks the agent's own dialect. */
  native: number
  /** The tool that makes a file, and what it is called with. */
  writes: (file: string, text: string) => { tool: string; arguments: string }
  /** Environment, files in its home, and arguments of one task. */
  task: (
    gateway: Gateway,
    prompt: string,
  ) => { env?: Record<string, string>; files?: Record<string, string>; args: string[] }
}

const json = (value: unknown): string => JSON.stringify(value)
const indented = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const claudeCode: Program = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  command: 'claude',
  native: 14,
  writes: (file, text) => ({ tool: 'Write', arguments: json({ file_path: file, content: text }) }),
  task: ({ url, key, model }, prompt) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    args: ['--print', '--allowedTools', 'Write', '--', prompt],
  }),
}

const codex: Program = {
  name: 'Codex',
  package: '@openai/codex',
  command: 'codex',
  native: 1,
  writes: (file, text) => ({
    tool: 'exec_command',
    arguments: json({ cmd: `printf %s '${text}' > '${file}'` }),
  }),
  task: ({ url, key, model }, prompt) => ({
    env: { GATEWAY_API_KEY: key },
    files: {
      '.codex/config.toml': [
        `model = "${model}"`,
        'model_provider = "gateway"',
        '',
        '[model_providers.gateway]',
        'name = "Gateway"',
        `base_url = "${url}/v1"`,
        'env_key = "GATEWAY_API_KEY"',
        'wire_api = "responses"',
        'supports_websockets = true',
        '',
      ].join('\n'),
    },
    args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '--', prompt],
  }),
}

const opencode: Program = {
  name: 'opencode',
  package: 'opencode-ai',
  command: 'opencode',
  native: 1,
  writes: (file, text) => ({ tool: 'write', arguments: json({ filePath: file, content: text }) }),
  task: ({ url, key, model }, prompt) => ({
    env: { GATEWAY_API_KEY: key },
    files: {
      '.config/opencode/opencode.json': indented({
        $schema: 'https://opencode.ai/config.json',
        provider: {
          gateway: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Gateway',
            options: { baseURL: `${url}/v1`, apiKey: '{env:GATEWAY_API_KEY}' },
            models: { [model]: { name: model } },
          },
        },
      }),
    },
    args: ['run', '--model', `gateway/${model}`, '--', prompt],
  }),
}

const geminiCli: Program = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  command: 'gemini',
  native: 24,
  writes: (file, text) => ({ tool: 'write_file', arguments: json({ file_path: file, content: text }) }),
  task: ({ url, key, model }, prompt) => ({
    env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    files: { '.gemini/settings.json': indented({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
    args: ['--yolo', '--model', model, '--prompt', prompt],
  }),
}

export const programs = [claudeCode, codex, opencode, geminiCli]

/** Folders that may have the agents: a project that has them installed, and where commands are. */
const folders = [
  ...(process.env['AGENTS_DIR'] ? [join(process.env['AGENTS_DIR'], 'node_modules/.bin')] : []),
  ...(process.env['PATH'] ?? '').split(delimiter),
]

export const commandOf = ({ command }: Program): string | null =>
  folders.map((folder) => join(folder, command)).find((path) => existsSync(path)) ?? null

/** One task of an agent in a folder of its own, with a home of its own. */
export async function runTask(program: Program, gateway: Gateway, promptFor: (file: string) => string) {
  const home = await mkdtemp(join(tmpdir(), 'agent-'))
  const work = join(home, 'work')
  await mkdir(work)
  const file = join(work, 'made.txt')
  const { env = {}, files = {}, args } = program.task(gateway, promptFor(file))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  const child = spawn(commandOf(program) as string, args, {
    cwd: work,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString()
    })
  }
  await once(child, 'close')
  const made = await readFile(file, 'utf8').catch(() => null)
  await rm(home, { recursive: true, force: true })
  return { output, made }
}
