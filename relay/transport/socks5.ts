import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { TransportError } from './transport-error.ts'

export type Socks5Target = {
  host: string
  port: number
  /** Empty where the proxy wants none. */
  username: string
  password: string
}

const refused = (message: string): TransportError => new TransportError('connect', { message })

/** Asks a question and waits for the whole of its answer. A proxy says nothing unasked, so nothing is read too far. */
async function ask(
  socket: Socket,
  question: Buffer,
  { isComplete, signal }: { isComplete: (answer: Buffer) => boolean; signal: AbortSignal },
): Promise<Buffer> {
  let answer: Buffer = Buffer.alloc(0)
  const closed = new AbortController()
  const onClose = (): void => closed.abort(refused('the proxy closed the connection'))
  socket.on('close', onClose)
  socket.write(question)
  try {
    while (!isComplete(answer)) {
      const [chunk] = (await once(socket, 'data', { signal: AbortSignal.any([signal, closed.signal]) })) as [Buffer]
      answer = Buffer.concat([answer, chunk])
    }
    return answer
  } finally {
    socket.off('close', onClose)
  }
}

const addressTypes = { ipv4: 1, name: 3, ipv6: 4 }

function addressBytes(host: string): Buffer {
  if (isIP(host) === 0) return Buffer.from([addressTypes.name, Buffer.byteLength(host), ...Buffer.from(host)])
  const type = isIP(host) === 4 ? addressTypes.ipv4 : addressTypes.ipv6
  return Buffer.from([type, ...ipaddr.parse(host).toByteArray()])
}

/** Version, reply, a reserved byte, then an address of its own length and a port. */
function isCompleteReply(reply: Buffer): boolean {
  if (reply.length < 5) return false
  const address = reply[3] === addressTypes.ipv4 ? 4 : reply[3] === addressTypes.ipv6 ? 16 : 1 + (reply[4] ?? 0)
  return reply.length >= 4 + address + 2
}

/** Makes a connection to a SOCKS5 proxy one to the target. Names are resolved by the proxy. */
export async function greetSocks5(socket: Socket, target: Socks5Target, signal: AbortSignal): Promise<void> {
  const { host, port, username, password } = target
  const twoBytes = { isComplete: (answer: Buffer) => answer.length >= 2, signal }
  const greeting = await ask(socket, Buffer.from(username === '' ? [5, 1, 0] : [5, 2, 0, 2]), twoBytes)
  if (greeting[1] === 2) {
    const [name, word] = [Buffer.from(username), Buffer.from(password)]
    const verdict = await ask(socket, Buffer.from([1, name.length, ...name, word.length, ...word]), twoBytes)
    if (verdict[1] !== 0) throw refused('the proxy refused its credentials')
  } else if (greeting[1] !== 0) throw refused('the proxy wants credentials')
  const input = Buffer.concat([Buffer.from([5, 1, 0]), addressBytes(host), Buffer.from([port >> 8, port & 255])])
  const reply = await ask(socket, input, { isComplete: isCompleteReply, signal })
  if (reply[1] !== 0) throw refused('the proxy could not reach the upstream')
}
