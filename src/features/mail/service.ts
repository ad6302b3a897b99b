import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import { DomainError } from '#core/errors.ts'
import type { Services } from '../deps.ts'

type MailDeps = Pick<Services, 'options'>

/** Where nobody is on the way. */
const thisMachine = new Set(['localhost', '127.0.0.1', '::1'])

export type Mail = {
  to: string
  subject: string
  /** Plain text; escaped where it becomes HTML. */
  lines: string[]
  link?: string
  closing?: string[]
}

const timeoutMs = 15_000
/** For the whole of it: a server can go on for ever a line at a time. */
const longestMs = 60_000

/** @throws {DomainError} mail.not_configured */
export function requireMailServer({ options }: MailDeps): void {
  if (options.get('SMTPServer') === '' || sender(options) === '') throw new DomainError('mail.not_configured')
}

const sender = (options: Services['options']): string => options.get('SMTPFrom') || options.get('SMTPAccount')

/** Sends one mail through the configured server, in text and HTML. @throws {DomainError} mail.not_configured, mail.failed */
export async function sendMail({ options }: MailDeps, mail: Mail): Promise<void> {
  requireMailServer({ options })
  const port = options.get('SMTPPort')
  const account = options.get('SMTPAccount')
  const host = options.get('SMTPServer')
  const transport = createTransport({
    host,
    port,
    name: greetingName(options),
    secure: port === 465 || options.get('SMTPSSLEnabled'),
    // Whoever stands between could say that the server speaks no TLS, and read the password.
    requireTLS: account !== '' && !thisMachine.has(host.toLowerCase()),
    ...(account === '' ? {} : { auth: { user: account, pass: options.get('SMTPToken') } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({
      from: { name: options.get('SystemName'), address: sender(options) },
      // As an object it is one address, whatever it contains.
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: textOf(mail),
      html: htmlOf(mail),
      signal: AbortSignal.timeout(longestMs),
    })
  } catch (error) {
    throw new DomainError('mail.failed', {}, { cause: error })
  } finally {
    transport.close()
  }
}

/**
 * The name that mail servers are greeted by. A machine without a name of its own, such as a container, would say
 * `[127.0.0.1]`, which some refuse.
 */
function greetingName(options: Services['options']): string | undefined {
  const { hostname = '' } = URL.parse(options.get('ServerAddress')) ?? {}
  const isName = /^[a-z\d-]+(\.[a-z\d-]+)+$/i.test(hostname) && isIP(hostname) === 0
  return isName ? hostname : undefined
}

const textOf = ({ lines, link, closing = [] }: Mail): string =>
  [...lines, ...(link === undefined ? [] : [link]), ...closing].join('\n\n')

function htmlOf({ lines, link, closing = [] }: Mail): string {
  const paragraph = (line: string) => `<p>${escapeHtml(line)}</p>`
  const anchor = link === undefined ? [] : [`<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`]
  return [...lines.map(paragraph), ...anchor, ...closing.map(paragraph)].join('\n')
}

const escapeHtml = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? character,
  )
