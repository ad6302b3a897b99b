import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dataFolderOf, describeWorld, readPort, startDemoWorld } from './demo-world.ts'
import { root } from './steps.ts'

readPort(`The product from its sources: the console with hot reload, the server started again at every change. Database, demo
world and simulated provider stay up meanwhile; their data is in ./data/dev, or in the folder dev of DATA_DIR.

  npm run dev -- [--port 3000]
`)

const world = await startDemoWorld(dataFolderOf('dev'))
process.stdout.write(describeWorld(world))
const env = { ...process.env, ...world.environment }
const server = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'scripts/dev-server.ts'], {
  cwd: root,
  env,
  stdio: 'inherit',
})
const ended = once(server, 'exit')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'))
await ended
await world.close()
