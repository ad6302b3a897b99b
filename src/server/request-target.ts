import type { IncomingMessage, RequestListener } from 'node:http'

const absoluteForm = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#]*@)?([^/?#]*)(.*)$/i
const slash = 47

/** The address of a request without the host that stands in it where it is written for a proxy (RFC 9112, 3.2.2). */
export function originForm(target: string): { url: string; host?: string } {
  const [, host, rest = ''] = absoluteForm.exec(target) ?? []
  return host === undefined ? { url: target } : { url: rest.startsWith('/') ? rest : `/${rest}`, host }
}

/** A host in the address goes before the header. All that looks at addresses afterwards, access checks too, sees one form alone. */
function readTarget(req: IncomingMessage): void {
  const { url, host } = originForm(req.url ?? '')
  if (host === undefined) return
  req.url = url
  req.headers.host = host
}

export function withOriginForm(listener: RequestListener): RequestListener {
  return (req, res) => {
    if (req.url?.charCodeAt(0) !== slash) readTarget(req)
    listener(req, res)
  }
}
