import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Load, LoadResult } from './generator/load.ts'

export type Program = { pid: number; output: string; stop: () => Promise<void> }

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const over = once(child, 'exit')
  child.kill('SIGTERM')
  await over
}

/** Starts one of our programs in a process of its own; resolves once it has said that it serves. */
export function startProgram(
  file: string,
  input: { args?: string[]; node?: string[]; env?: Record<string, string>; ready: RegExp },
): Promise<Program> {
  const env = { ...process.env, ...input.env }
  const args = [...(input.node ?? []), pathOf(file), ...(input.args ?? [])]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const match = input.ready.exec(output)
      if (match) resolve({ pid: child.pid ?? 0, output: match[1] ?? '', stop: () => stop(child) })
    })
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}: ${output}`)))
  })
}

export type Generator = { pid: number; run: (load: Load) => Promise<LoadResult>; stop: () => Promise<void> }

export function startGenerator(): Generator {
  const child = fork(pathOf('generator/main.ts'))
  return {
    pid: child.pid ?? 0,
    run: async (load) => {
      child.send(load)
      const [result] = (await once(child, 'message')) as [LoadResult]
      return result
    },
    stop: () => stop(child),
  }
}
