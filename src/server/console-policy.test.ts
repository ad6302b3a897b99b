import { describe, expect, it, test } from 'vitest'
import { defaultOptions, type OptionValues, readerOf } from '#core/options/registry/index.ts'
import { policyOf, withNonce } from './console-policy.ts'

const policyWith = (values: Partial<OptionValues> = {}): Record<string, string> =>
  Object.fromEntries(
    policyOf('n', readerOf(defaultOptions(values)))
      .split('; ')
      .map((directive) => [directive.slice(0, directive.indexOf(' ')), directive.slice(directive.indexOf(' ') + 1)]),
  )

const strict = {
  'default-src': "'self'",
  'script-src': "'self' 'nonce-n' https://challenges.cloudflare.com https://telegram.org",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob: https:",
  'media-src': "'self' https:",
  'font-src': "'self' data:",
  'connect-src': "'self' https:",
  'frame-src': 'https://challenges.cloudflare.com https://oauth.telegram.org',
  'object-src': "'none'",
  'base-uri': "'self'",
  'form-action': "'self' https:",
}

describe('the policy of the console’s page', () => {
  it('lets nothing of others in that the operator does not name', () => {
    expect(policyWith()).toEqual(strict)
    expect(
      policyWith({ custom_head_html: '<script>a = "cdn.example"</script>', global_css: 'a { color: red }' }),
    ).toEqual(strict)
  })

  it('lets scripts in from where a script of the operator’s names, with what they load and ask', () => {
    const named = ['https://hm.example', 'http://plain.example:8080']
    const policy = policyWith({
      custom_head_html: '<script>s.src = "https://HM.example/hm.js?1"</script>',
      global_js: 's.src = `http://plain.example:8080`; new WebSocket("wss://chat.example/socket")',
    })
    expect(policy).toEqual({
      ...strict,
      'script-src': [strict['script-src'], ...named].join(' '),
      'style-src': [strict['style-src'], ...named].join(' '),
      'font-src': [strict['font-src'], ...named].join(' '),
      'img-src': `${strict['img-src']} http://plain.example:8080`,
      'connect-src': `${strict['connect-src']} http://plain.example:8080 wss://chat.example`,
      'frame-src': [strict['frame-src'], ...named].join(' '),
    })
  })

  it('lets styles, fonts and images in from where a stylesheet or the head HTML names, and no script', () => {
    const policy = policyWith({
      custom_head_html:
        '<link rel="stylesheet" href="https://head.example/s.css"><!-- <script> https://said.example -->',
      global_css: '@import url(https://css.example); a { background: url(http://plain.example/i.png) }',
    })
    const named = 'https://head.example https://said.example https://css.example http://plain.example'
    expect(policy).toEqual({
      ...strict,
      'style-src': `${strict['style-src']} ${named}`,
      'font-src': `${strict['font-src']} ${named}`,
      'img-src': `${strict['img-src']} http://plain.example`,
      'frame-src': `${strict['frame-src']} https://head.example https://said.example`,
    })
  })

  it('takes no pattern and no other directive out of what is written', () => {
    const hosts = ['*', '*.example', '${host}', "a'b", 'a;object-src', '[::1]', 'user@']
    const text = hosts.map((host) => `"https://${host}/x.js"`).join(' ')
    const policy = policyWith({ global_js: text, global_css: text, Chats: [{ any: 'https://*' }] })
    expect(policy).toEqual(policyWith({ global_js: 'https://a' }))
    expect(policyWith({ Logo: 'http://a;script-src/', PayAddress: 'http://*.example' })).toEqual(strict)
  })

  it('shows the logo and the QR code of an address without TLS, and posts to such a gateway', () => {
    const policy = policyWith({
      Logo: 'http://images.lan/logo.png',
      WeChatAccountQRCodeImageURL: 'HTTP://wechat.lan:81/qr.png',
      PayAddress: 'http://pay.lan/epay?next=http://other.lan',
    })
    expect(policy).toEqual({
      ...strict,
      'img-src': `${strict['img-src']} http://images.lan http://wechat.lan:81`,
      'form-action': `${strict['form-action']} http://pay.lan`,
    })
    expect(policyWith({ Logo: 'https://images.example/logo.png', WeChatAccountQRCodeImageURL: '/qr.png' })).toEqual(
      strict,
    )
  })
})

test.each([
  ['<script src="a.js"></script>', '<script nonce="n" src="a.js"></script>'],
  ['<SCRIPT>a</SCRIPT><script\nasync>b</script>', '<SCRIPT nonce="n">a</SCRIPT><script nonce="n"\nasync>b</script>'],
  ['<script nonce="old">a</script>', '<script nonce="n" nonce="old">a</script>'],
  [
    '<script>w("<script>x<\\/script>")</script><script>b',
    '<script nonce="n">w("<script>x<\\/script>")</script><script nonce="n">b',
  ],
  ['<!-- <script> --><script>a</script>', '<!-- <script> --><script nonce="n">a</script>'],
  [
    '<!--[if !IE]><!--><script>a</script><!--<![endif]-->',
    '<!--[if !IE]><!--><script nonce="n">a</script><!--<![endif]-->',
  ],
  ['<!--><script>a</script>', '<!--><script nonce="n">a</script>'],
  ['<scripted>a</scripted><!-- <script>', '<scripted>a</scripted><!-- <script>'],
])('the nonce is given to scripts and to nothing that looks like one: %s', (html, expected) => {
  expect(withNonce(html, 'n')).toBe(expected)
})
