import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail server that keeps what it is given. */
export async function startMailServer() {
  const mails: { to: string[]; source: string; greeting: string }[] = []
  let refusing = false
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, callback) => callback(refusing ? new Error('no such mailbox') : null),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        mails.push({ to, source: Buffer.concat(chunks).toString(), greeting: String(session.hostNameAppearsAs) })
        callback()
      })
    },
  })
  const socket = server.listen(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: (socket.address() as AddressInfo).port,
    mails,
    refuse: (value: boolean) => void (refusing = value),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** The text part, whatever it was encoded in. */
export function textOf(source: string): string {
  const part = source.split(/\r\n--/).find((piece) => piece.includes('text/plain')) ?? ''
  const body = part.slice(part.indexOf('\r\n\r\n') + 4)
  if (part.includes('base64')) return Buffer.from(body, 'base64').toString()
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
