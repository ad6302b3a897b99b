import type { OptionsReader } from '#core/options/registry/index.ts'

/** Comments of HTML, and its scripts from tag to tag: what looks like a tag inside of either is none. */
const commentsAndScripts = /<!--(?!-?>)[^]*?(?:-->|$)|<script(?=[\s/>])[^]*?(?:<\/script|$)/gi

const isScript = (part: string): boolean => !part.startsWith('<!')

/** HTML whose scripts carry the nonce; of two in one tag the first counts. */
export const withNonce = (html: string, nonce: string): string =>
  html.replace(commentsAndScripts, (part) => (isScript(part) ? part.replace(/^<script/i, `$& nonce="${nonce}"`) : part))

const scriptsIn = (html: string): string[] => (html.match(commentsAndScripts) ?? []).filter(isScript)

/** What a page may do whose scripts carry the nonce; beyond the console's own needs only what the operator names. */
export function policyOf(nonce: string, options: OptionsReader): string {
  const { scripts, sockets, styles } = loadedOrigins(options)
  const images = [...plainOnly(styles), ...plainOrigins(options, 'Logo', 'WeChatAccountQRCodeImageURL')]
  return [
    directive('default-src', "'self'"),
    directive('script-src', `'self' 'nonce-${nonce}' https://challenges.cloudflare.com https://telegram.org`, scripts),
    // The component library writes its styles into the page as it runs.
    directive('style-src', "'self' 'unsafe-inline'", styles),
    directive('img-src', "'self' data: blob: https:", images),
    // Songs lie where their makers keep them.
    directive('media-src', "'self' https:"),
    directive('font-src', "'self' data:", styles),
    directive('connect-src', "'self' https:", [...plainOnly(scripts), ...sockets]),
    directive('frame-src', 'https://challenges.cloudflare.com https://oauth.telegram.org', framedOrigins(options)),
    directive('object-src', "'none'"),
    directive('base-uri', "'self'"),
    // Any encrypted address may be posted to: a gateway leads on to the page of whoever is paid.
    directive('form-action', "'self' https:", plainOrigins(options, 'PayAddress')),
  ].join('; ')
}

const directive = (name: string, always: string, named: readonly string[] = []): string =>
  [name, always, ...new Set(named)].join(' ')

/**
 * What the operator's own head HTML, CSS and JS load: a script may come from where a script names, a stylesheet, font or image from
 * where any of the three does. Trusting whatever a script appends ('strict-dynamic') would trust every address it is led to.
 */
function loadedOrigins(options: OptionsReader): { scripts: string[]; sockets: string[]; styles: string[] } {
  const head = options.get('custom_head_html')
  const js = options.get('global_js')
  const scripts = [...scriptsIn(head), js]
  return {
    scripts: namedOrigins(scripts, webAddresses),
    sockets: namedOrigins(scripts, socketAddresses),
    styles: namedOrigins([head, options.get('global_css'), js], webAddresses),
  }
}

/** Texts of the operator's in which a page may be named that is shown in a frame. */
const framing = ['HomePageContent', 'About', 'Footer', 'custom_head_html', 'global_js'] as const

/**
 * Where frames may lead: to pages that the operator names. A chat page that sends its frame on to somewhere else would take
 * along the key that stands in the address.
 */
function framedOrigins(options: OptionsReader): string[] {
  const links = options.get('Chats').flatMap((chat) => Object.values(chat))
  return namedOrigins([...links, ...framing.map((name) => options.get(name))], webAddresses)
}

const webAddresses = /https?:\/\/[^\s"'`<>()\\/?#;,]+/gi
const socketAddresses = /wss?:\/\/[^\s"'`<>()\\/?#;,]+/gi

const namedOrigins = (texts: readonly string[], addresses: RegExp): string[] =>
  texts.flatMap((text) => text.match(addresses) ?? []).flatMap(originOf)

/** None where the host is a pattern or is put in by a script: a policy would take it for more than one host, or for another directive. */
function originOf(address: string): string[] {
  const origin = URL.parse(address)?.origin ?? ''
  return /^\w+:\/\/[\w.-]+(?::\d+)?$/.test(origin) ? [origin] : []
}

/** Encrypted ones are let through wherever they lead. */
const plainOnly = (origins: readonly string[]): string[] => origins.filter((origin) => origin.startsWith('http:'))

const plainOrigins = (
  options: OptionsReader,
  ...keys: readonly ('PayAddress' | 'Logo' | 'WeChatAccountQRCodeImageURL')[]
): string[] => plainOnly(keys.flatMap((key) => originOf(options.get(key))))
