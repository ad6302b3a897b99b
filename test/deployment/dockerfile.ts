import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, join, matchesGlob, relative } from 'node:path'

type Step = { instruction: string; text: string }
type Stage = { name: string; steps: Step[] }

/** What each stage of a Dockerfile does, line by line. */
export function readStages(dockerfile: string): Stage[] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, instruction = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (instruction === 'FROM') stages.push({ name: /\bAS (\w+)/.exec(text)?.[1] ?? '', steps: [] })
    else stages.at(-1)?.steps.push({ instruction, text })
  }
  return stages
}

type Copy = { from: string | undefined; sources: string[]; target: string }

export function readCopy(text: string): Copy {
  const words = text.split(/\s+/)
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}

/** The files that a build is given: those of the folder that .dockerignore leaves. */
export function contextOf(folder: string): (path: string) => boolean {
  const ignored = readFileSync(join(folder, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  return (path) => {
    const parts = relative(folder, path).split('/')
    return !parts.some((_, end) => ignored.some((pattern) => matchesGlob(parts.slice(0, end + 1).join('/'), pattern)))
  }
}

export type Image = {
  folder: string
  environment: Record<string, string>
  command: string[]
  healthcheck: string[]
  user: string
}

type Builder = { project: string; into: string; path: string; log: (line: string) => void }

/**
 * Runs a Dockerfile's steps in their order, each stage in a folder that stands for its root: for machines without Docker. The base
 * image's Node is the one in `path`.
 */
export function buildImage({ project, into, path, log }: Builder): Image {
  const inContext = contextOf(project)
  const image: Image = { folder: '', environment: {}, command: [], healthcheck: [], user: '' }
  const stages = readStages(readFileSync(join(project, 'Dockerfile'), 'utf8'))
  for (const [index, stage] of stages.entries()) {
    const root = join(into, stage.name || String(index))
    let workdir = '/'
    Object.assign(image, { folder: root, environment: {}, command: [], healthcheck: [], user: '' })
    const inside = (given: string) => (given.startsWith('/') ? join(root, given) : join(root, workdir, given))
    const steps: Record<string, (text: string) => void> = {
      WORKDIR: (text) => {
        workdir = text
        mkdirSync(inside('.'), { recursive: true })
      },
      ENV: (text) => {
        for (const [, name = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g))
          image.environment[name] = value.startsWith('/') ? inside(value) : value
      },
      COPY: (text) => {
        const { from, sources, target } = readCopy(text)
        for (const source of sources)
          copy(from === undefined ? join(project, source) : join(into, from, source), inside(target), target)
      },
      RUN: (text) => {
        // Whoever is not root has nobody else to give a file to; a machine has no user called node.
        const shims = 'chown() { [ "$(id -u)" != 0 ] || command chown 65534:65534 "$2"; }'
        const written = text.replaceAll(/(?<=\s)\/[\w./-]+/g, (absolute) => inside(absolute))
        const run = spawnSync('sh', ['-euc', `${shims}\n${written}`], {
          cwd: inside('.'),
          stdio: ['ignore', 'inherit', 'inherit'],
          env: { ...environmentOf(path), ...image.environment },
        })
        if (run.status !== 0) throw new Error(`RUN ${text} ended with ${run.status ?? run.signal}`)
      },
      CMD: (text) => void (image.command = JSON.parse(text) as string[]),
      HEALTHCHECK: (text) => void (image.healthcheck = JSON.parse(/CMD (\[.*)$/.exec(text)?.[1] ?? '[]') as string[]),
      USER: (text) => void (image.user = text),
      VOLUME: (text) => {
        if (!existsSync(inside(text))) throw new Error(`${text} is not there`)
      },
      EXPOSE: () => {},
    }
    const copy = (source: string, target: string, written: string) => {
      if (!existsSync(source)) throw new Error(`COPY: there is no ${source}`)
      const isFolder = statSync(source).isDirectory()
      const destination = isFolder || !written.endsWith('/') ? target : join(target, source.split('/').at(-1) ?? '')
      const filter = source.startsWith(project) ? inContext : () => true
      // A whole project may have this very folder in it.
      for (const name of isFolder ? readdirSync(source) : ['']) {
        const file = join(source, name)
        if (filter(file)) cpSync(file, join(destination, name), { recursive: true, filter, verbatimSymlinks: true })
      }
    }
    for (const { instruction, text } of stage.steps) {
      log(`${stage.name || 'image'}: ${instruction} ${text}`)
      const step = steps[instruction]
      if (!step) throw new Error(`${instruction} is no instruction that this knows`)
      step(text)
    }
    Object.assign(image, { folder: inside('.') })
  }
  return image
}

/** A machine's own settings are none of an image. */
const environmentOf = (path: string): Record<string, string> => ({
  PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}`,
  HOME: process.env['HOME'] ?? '/',
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^npm_config_|_proxy$/i.test(name) && value ? [[name, value]] : [],
    ),
  ),
})

/** Starts what an image starts, as somebody who is not root. */
export function startImage(image: Image, path: string, environment: Record<string, string>) {
  const [command = '', ...args] = image.command
  const isRoot = process.getuid?.() === 0
  const as = isRoot && image.user !== 'root' ? { uid: 65534, gid: 65534 } : {}
  const env = { ...environmentOf(path), ...image.environment, ...environment }
  const child = spawn(command, args, { cwd: image.folder, env, ...as, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [check = '', ...words] = image.healthcheck
  return {
    output: () => output,
    exited,
    isHealthy: () => spawnSync(check, words.slice(), { env, cwd: image.folder }).status === 0,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
  }
}
