import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { type App, startApp } from '#test/support/app.ts'
import { long } from '#test/support/long.ts'
import { closeWithoutViolations, consumed } from '#test/relay/caller-dialects.ts'
import { allowUnpriced, serve } from '#test/relay/serve.ts'
import { commandOf, programs, runTask } from './programs.ts'

const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')

test.each(programs)('the page about agents says how $name is pointed at the gateway', (program) => {
  const { env = {}, files = {} } = program.task({ url: 'http://localhost:3000', key: 'sk-…', model: 'my-model' }, '')
  expect(page).toContain(`npm install --global ${program.package}`)
  for (const [name, value] of Object.entries(env)) expect(page).toContain(`export ${name}=${value}\n`)
  for (const [name, text] of Object.entries(files)) {
    expect(page).toContain(`~/${name}`)
    expect(page).toContain(text)
  }
})

const families = [
  ['OpenAI', 1],
  ['Anthropic', 14],
  ['Gemini', 24],
  ['chat completions only', 42],
] as const

/** `AGENTS_DIR` names a folder with the agents' packages installed; commands in the path do, too. */
const installed = long ? programs.filter((program) => commandOf(program) !== null) : []

describe.runIf(installed.length > 0)('a task with a file edit', () => {
  let app: App
  beforeAll(async () => {
    app = await startApp()
    await allowUnpriced(app)
  })
  afterAll(() => closeWithoutViolations(app))

  const tasks = installed.flatMap((program) =>
    families.map(([family, type]) => ({ name: program.name, program, family, type })),
  )
  test.each(tasks)('is finished by $name on $family, each call charged by its usage', async ({ program, type }) => {
    const token = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
    const { model } = await serve(app, { type, does: 'usage=1000:100:0:0:0,usageat=finish' })
    app.upstream.clear()
    const before = (await consumed(app)).length
    const text = 'made by the agent'
    const { output, made } = await runTask(program, { url: app.url, key: `sk-${token.key}`, model }, (file) => {
      const { tool, arguments: given } = program.writes(file, text)
      return `Make the file. [[tool=${tool},args=${encodeURIComponent(given)}]]`
    })
    expect(made, output).toBe(text)
    expect(output).toContain('The tool says')
    const rows = (await consumed(app)).slice(before)
    expect(rows.length).toBe(app.upstream.total)
    expect(rows.length).toBeGreaterThanOrEqual(2)
    for (const row of rows)
      expect(row).toMatchObject({ model_name: model, prompt_tokens: 1000, completion_tokens: 100, quota: 41_250 })
    const sessions = new Set(rows.map(({ other }) => other['session']))
    expect([...sessions]).toEqual([expect.any(String)])
  })
})
