// What every npm script is: `node scripts/run.mjs <command> [argument …]`. It runs on whatever Node the machine has (20 or
// newer), installs what is missing, and hands over to scripts/<command>.ts or scripts/<command>/index.ts on the Node that
// npm brought. Plain JavaScript without dependencies: on a bare clone there are none.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const isWindows = process.platform === 'win32'

const [command = '', ...args] = process.argv.slice(2)
const program = [`scripts/${command}.ts`, `scripts/${command}/index.ts`].find((path) => existsSync(`${root}${path}`))
if (!program) {
  console.error(`There is no scripts/${command}.ts.`)
  process.exit(1)
}

const ours = `${root}node_modules/node-${isWindows ? 'win' : process.platform}-${process.arch}/bin/node${isWindows ? '.exe' : ''}`
// As many threads for the compiler and the garbage collector as there are cores, not four on every machine; a young generation
// that does not take 100 MB for good because many streams once began at a time (docs/benchmarks.md); and what was compiled
// once is kept for the next start. A server collects the garbage of its own start, see start.ts.
const flags = ['--v8-pool-size=0', '--max-semi-space-size=16', '--expose-gc']
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled`, ...process.env }
const child = spawn(existsSync(ours) ? ours : process.execPath, [...flags, program, ...args], {
  cwd: root,
  stdio: 'inherit',
  env,
})

// The program decides when it ends. What a terminal sends reaches it by itself too, and hearing it twice does it no harm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => isWindows || child.kill(signal))

// npm passes SIGTERM to its shell alone, which ends at once and says nothing: another parent process shows it.
if (process.env.npm_lifecycle_event && !isWindows) {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 250)
}

child.once('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
child.once('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
