import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestToken } from '../support/factories.ts'
import { sendHead } from '../support/raw-request.ts'

const megabyte = 1024 * 1024

/** What a process holds of the machine's memory now, and the most it ever held, in bytes. */
export function memoryOf(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: read('VmRSS'), most: read('VmHWM') }
}

type Target = { url: string; address: string; withoutQuota: TestToken; withQuota: TestToken; stop: AbortSignal }
type Attack = (target: Target) => Promise<void>

const filler = Buffer.alloc(megabyte, ' ')

/** Sends a body of 64 MB: quickly, as far as it is let, then by the byte. */
const slowBody: Attack = async ({ url, address, withoutQuota, stop }) => {
  const { socket, status } = await sendHead(url, {
    path: '/v1/chat/completions',
    headers: {
      authorization: `Bearer sk-${withoutQuota.key}`,
      'content-length': 64 * megabyte,
      'x-forwarded-for': address,
    },
  })
  const end = (): void => void socket.destroy()
  stop.addEventListener('abort', end)
  let over = false
  void status.then(() => (over = true))
  for (let sent = 0; sent < 12 && !over && !socket.destroyed; sent += 1) {
    const flushed = new Promise((resolve) => socket.write(filler, resolve))
    await Promise.race([flushed, status])
  }
  while (!over && !socket.destroyed) {
    socket.write(' ')
    await pause(200)
  }
  stop.removeEventListener('abort', end)
  socket.destroy()
}

/** Posts and lets the answer go by. */
async function post(target: Target, path: string, sent: { body: string | Buffer; headers?: Record<string, string> }) {
  const reply = await fetch(target.url + path, {
    method: 'POST',
    signal: target.stop,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': target.address, ...sent.headers },
    body: sent.body as BodyInit,
  })
  await reply.arrayBuffer()
}

const typedArray: Attack = (target) =>
  post(target, '/trpc/auth.login', {
    body: '{"json":{"username":{"length":4000000000}},"meta":{"values":{"username":[["typed-array","Uint8Array"]]}}}',
    headers: { origin: target.url },
  })

const deep = `${'['.repeat(150_000)}${']'.repeat(150_000)}`
const deepJson: Attack = async (target) => {
  await post(target, '/v1/chat/completions', {
    body: deep,
    headers: { authorization: `Bearer sk-${target.withQuota.key}` },
  })
  await post(target, '/api/user/register', { body: deep.slice(120_000, 180_000) })
}

const longName: Attack = async (target) => {
  const model = `gpt-4-gizmo-${'g'.repeat(12_000)}`
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })
  await post(target, '/v1/chat/completions', { body, headers: { authorization: `Bearer sk-${target.withQuota.key}` } })
  await post(target, '/api/user/login', { body: JSON.stringify({ username: 'n'.repeat(50_000), password: 'p' }) })
}

const longPassword = Buffer.from(JSON.stringify({ username: 'u', password: 'p'.repeat(2 * megabyte) }))
const wrongLogin: Attack = async (target) => {
  await post(target, '/api/user/login', { body: longPassword })
  await post(target, '/api/user/login', { body: JSON.stringify({ username: 'root', password: 'wrong' }) })
}

const attacks = [slowBody, typedArray, deepJson, longName, wrongLogin]

/** Attackers of every kind in equal numbers, each from an address of its own, each again and again until asked to stop. */
export function startAttackers(count: number, given: Omit<Target, 'address' | 'stop'>): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const attacker = async (index: number): Promise<void> => {
    const attack = attacks[index % attacks.length] as Attack
    const target = { ...given, address: `10.9.${index >> 8}.${index & 255}`, stop: stopping.signal }
    await pause(index * 10)
    while (!stopping.signal.aborted) {
      // Refused, cut off or asked to stop.
      await attack(target).catch(() => {})
      await pause(2000 + (index % 7) * 300)
    }
  }
  const attackers = Array.from({ length: count }, (_, index) => attacker(index))
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(attackers)
    },
  }
}
