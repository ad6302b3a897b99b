import { createHash } from 'node:crypto'

/** What a merchant's form and a notification are made of. */
export type EpayFields = Record<string, string>

/** The gateway's side of epay, written down anew: it signs like the original, and can be made to lie. */
export function createEpayGateway(given: { pid: string; key: string }) {
  const sign = (fields: EpayFields, key = given.key): string => {
    const text = Object.entries(fields)
      .filter(([name, value]) => name !== 'sign' && name !== 'sign_type' && value !== '')
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, value]) => `${name}=${value}`)
      .join('&')
    return createHash('md5').update(`${text}${key}`, 'utf8').digest('hex')
  }

  const signed = (fields: EpayFields, key?: string): EpayFields => ({
    ...fields,
    sign: sign(fields, key),
    sign_type: 'MD5',
  })

  return {
    sign,
    /** Whether the form a payer brings was signed by the merchant. */
    accepts: (form: EpayFields): boolean => form['pid'] === given.pid && form['sign'] === sign(form),
    /** What the merchant is notified of once the form was paid, with whatever is to be different. */
    notification: (form: EpayFields, changes: EpayFields = {}, key?: string): EpayFields =>
      signed(
        {
          pid: form['pid'] ?? '',
          trade_no: `2026${form['out_trade_no']?.slice(-22)}`,
          out_trade_no: form['out_trade_no'] ?? '',
          type: form['type'] ?? '',
          name: form['name'] ?? '',
          money: form['money'] ?? '',
          trade_status: 'TRADE_SUCCESS',
          ...changes,
        },
        key,
      ),
    /** Brings a notification to a merchant, as the gateway does. */
    notify: async (url: string, fields: EpayFields, method: 'GET' | 'POST' = 'GET'): Promise<string> => {
      const query = new URLSearchParams(fields)
      const path = `${url}/api/user/epay/notify`
      const reply =
        method === 'GET' ? await fetch(`${path}?${query}`) : await fetch(path, { method: 'POST', body: query })
      return reply.text()
    },
  }
}
