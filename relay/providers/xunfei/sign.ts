import { createHmac } from 'node:crypto'

export type SparkKey = { appId: string; apiSecret: string; apiKey: string }

/** `appId|apiSecret|apiKey`; any other key is the password of the HTTP surface. */
export function readSparkKey(key: string): SparkKey | undefined {
  const [appId = '', apiSecret = '', apiKey = ''] = key.split('|').map((part) => part.trim())
  return apiSecret === '' || apiKey === '' ? undefined : { appId, apiSecret, apiKey }
}

/** The address of a socket with its signature in the query: over host, date and the line of the handshake. */
export function signSocket(address: string, { apiSecret, apiKey }: SparkKey, now: Date): string {
  const url = new URL(address)
  const date = now.toUTCString()
  const text = `host: ${url.host}\ndate: ${date}\nGET ${url.pathname} HTTP/1.1`
  const signature = createHmac('sha256', apiSecret).update(text).digest('base64')
  const words = `hmac username="${apiKey}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`
  const authorization = Buffer.from(words).toString('base64')
  url.search = new URLSearchParams({ host: url.host, date, authorization }).toString()
  return url.href
}
