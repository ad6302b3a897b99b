import { createEpayGateway, type EpayFields } from '../support/epay-gateway.ts'
import type { Call, Reply } from './types.ts'

/** What the demo's merchant signs with. */
export const demoPaymentKey = 'the key of the demo merchant'

const gateway = createEpayGateway({ pid: 'demo', key: demoPaymentKey })

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const page = (content: string): Reply => ({
  type: 'bytes',
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from(
    `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>模拟支付</title>` +
      `<body style="font:16px system-ui;max-width:26rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark">${content}`,
  ),
})

const paths = ['/submit.php', '/paid.php']

export const isPayment = ({ path }: Pick<Call, 'path'>): boolean => paths.includes(path)

/** The payment gateway of the demo: a page with a button, which notifies the merchant and leads back. No money moves. */
export async function paymentReply({ path, query }: Pick<Call, 'path' | 'query'>, bytes: Buffer): Promise<Reply> {
  const form: EpayFields = {
    ...Object.fromEntries(query),
    ...Object.fromEntries(new URLSearchParams(bytes.toString())),
  }
  if (!gateway.accepts(form)) return page('<h1>签名无效</h1>')
  const notification = gateway.notification(form)
  if (path === '/submit.php') {
    const fields = Object.entries(form).map(
      ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
    )
    return page(
      `<h1 style="font-size:1.3rem">模拟支付</h1><p>${escaped(form['name'] ?? '')}</p><p style="font-size:2rem">¥${escaped(form['money'] ?? '')}</p>` +
        `<form method="post" action="/paid.php">${fields.join('')}<button style="font:inherit;padding:.6rem 1.4rem">确认支付</button></form>` +
        `<p>这是演示用的支付网关，不会产生真实付款。</p>`,
    )
  }
  await fetch(`${form['notify_url']}?${new URLSearchParams(notification)}`)
  const back = `${form['return_url']}?${new URLSearchParams(notification)}`
  return { type: 'json', status: 302, body: {}, headers: { location: back } }
}
