export type ChatLink =
  | { kind: 'frame'; url: string; host: string }
  /** A program on the reader's machine opens it. */
  | { kind: 'program'; url: string; host: string }
  | { kind: 'invalid' }

/** Schemes that run what stands in the address. */
const runs = ['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']

/**
 * A link with the address of the gateway and a key put in. On a web page a key may only stand behind the `#`: what is before
 * it goes to that page's server, into its logs and to whom it refers.
 */
export function chatLinkOf(template: string, { address, key }: { address: string; key: string }): ChatLink {
  const [before = ''] = template.split('#')
  const written = template
    .replaceAll('{address}', encodeURIComponent(address))
    .replaceAll('{key}', encodeURIComponent(key))
  // What the browser reads counts: it drops blanks in front of an address and line breaks within.
  const url = URL.parse(written)
  if (!url || runs.includes(url.protocol)) return { kind: 'invalid' }
  const { protocol, host } = url
  if (protocol !== 'https:' && protocol !== 'http:')
    return { kind: 'program', url: written, host: protocol.slice(0, -1) }
  return before.includes('{key}') ? { kind: 'invalid' } : { kind: 'frame', url: written, host }
}

/** Whether a link can be opened once address and key are put in. */
export const isChatLink = (template: string): boolean =>
  chatLinkOf(template, { address: 'https://gateway.example', key: 'sk-key' }).kind !== 'invalid'
