// Runs before every npm script, on whatever Node the machine has (20 or newer), so it is plain JavaScript without
// dependencies. It installs what the lock file names and is missing; among that is the Node 24 the scripts run on.
import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)

const packagesOf = (path) => {
  try {
    return JSON.parse(readFileSync(new URL(path, root), 'utf8')).packages
  } catch {
    return {}
  }
}

const fits = (allowed, mine) => !allowed || [allowed].flat().includes(mine)

const isNeeded = ([path, entry]) =>
  path &&
  fits(entry.os, process.platform) &&
  fits(entry.cpu, process.arch) &&
  fits(entry.libc, 'glibc') &&
  (!entry.optional || entry.os)

const stop = (message) => {
  console.error(`\n${message}`)
  process.exit(1)
}

const needed = Object.entries(packagesOf('package-lock.json')).filter(isNeeded)

const bringsNode = needed.some(([path]) => /^node_modules\/node-(linux|win)-/.test(path))
if (!bringsNode && Number.parseInt(process.versions.node, 10) < 24) {
  stop(
    `No Node comes along for ${process.platform}-${process.arch}: install Node 24 or newer (this one is ${process.versions.node}) and start again.`,
  )
}

// npm writes this file last, so an interrupted installation has none and is done again.
const installed = packagesOf('node_modules/.package-lock.json')
const missing = needed.filter(([path, entry]) => installed[path]?.version !== entry.version)

if (missing.length > 0) {
  console.log(`installing ${missing.length} packages …`)
  // npm itself must run on the machine's Node, because `npm ci` deletes ours first.
  const { npm_node_execpath: node, npm_execpath: npm } = process.env
  const [command, ...first] = node && npm?.endsWith('.js') ? [node, npm] : ['npm']
  const { status } = spawnSync(command, [...first, 'ci'], {
    cwd: root,
    stdio: 'inherit',
    shell: command === 'npm' && process.platform === 'win32',
  })
  if (status !== 0) {
    stop('npm ci failed: it needs the npm registry (or a filled npm cache) and a writable project folder.')
  }
}

/** Whoever commits here has what is staged formatted and linted; hooks that somebody set up already stay. */
function installHooks() {
  // A linked work tree shares the settings of its clone, which decides; a tarball has no git.
  if (process.env.CI || !lstatSync(new URL('.git', root), { throwIfNoEntry: false })?.isDirectory()) return
  const git = (...args) => spawnSync('git', ['config', ...args], { cwd: root, encoding: 'utf8' })
  // Where git is missing or the folder cannot be written to, committing is nobody's business.
  if (git('--get', 'core.hooksPath').status === 1) git('--local', 'core.hooksPath', '.githooks')
}

installHooks()
