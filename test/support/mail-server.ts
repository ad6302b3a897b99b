import { createServer, type Server } from 'node:net'

/** As much of a mail server as a sender needs; keeps what it is given. */
export function createMailServer() {
  const mails: { to: string[]; source: string }[] = []
  let refusing = false
  const server: Server = createServer((socket) => {
    let [buffer, receiving, to] = ['', false, [] as string[]]
    const say = (line: string) => socket.write(`${line}\r\n`)
    const answer = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'RCPT') to.push(/<(.*)>/.exec(line)?.[1] ?? '')
      if (verb === 'DATA') receiving = true
      if (verb === 'QUIT') socket.end('221 bye\r\n')
      else say(receiving ? '354 go on' : refusing && verb === 'RCPT' ? '550 no' : '250 fine')
    }
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      buffer += chunk.toString()
      for (;;) {
        const end = buffer.indexOf(receiving ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const part = buffer.slice(0, end)
        buffer = buffer.slice(end + (receiving ? 5 : 2))
        if (receiving) {
          mails.push({ to, source: part })
          receiving = false
          to = []
          say('250 taken')
        } else answer(part)
      }
    })
    say('220 here')
  })
  return { server, mails, refuse: (value: boolean) => void (refusing = value) }
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
