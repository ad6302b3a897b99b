import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { buildConsole } from './console.ts'
import { dataFolderOf, describeWorld, readPort, startDemoWorld } from './demo-world.ts'
import { root } from './steps.ts'

readPort(`The product with a demo world and a simulated provider; its data stays in ./data/demo, or in
the folder demo of DATA_DIR.

  npm run demo -- [--port 3000]
`)

async function answers(port: string | undefined, product: ChildProcess): Promise<void> {
  while (product.exitCode === null) {
    const reply = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)
    if (reply?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the product did not start')
}

async function demo(): Promise<void> {
  if (!buildConsole()) throw new Error('the console could not be built')
  const world = await startDemoWorld(dataFolderOf('demo'))
  const env = { ...process.env, LOG_LEVEL: process.env['LOG_LEVEL'] || 'warn', ...world.environment }
  const product = spawn(process.execPath, ['scripts/start.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(product, 'exit')
  // Ctrl-C reaches the product by itself; twice does it no harm.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => product.kill('SIGTERM'))
  await Promise.race([answers(world.environment['PORT'], product), ended])
  if (product.exitCode === null) process.stdout.write(describeWorld(world))
  const [code] = await ended
  await world.close()
  process.exitCode = Number(code ?? 1)
}

await demo().catch((error: unknown) => {
  console.error(`\nThe demo did not start. ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
