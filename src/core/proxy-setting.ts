import { readObject } from './json-object.ts'

const hiddenPassword = '***'

/** The proxy of a channel, out of its settings. */
export const proxyOf = (setting: string | Readonly<Record<string, unknown>>): string => {
  const proxy = (typeof setting === 'string' ? readObject(setting) : setting)?.['proxy']
  return typeof proxy === 'string' ? proxy : ''
}

/** The settings with another proxy, laid out as they were. */
export const withProxy = (setting: string, proxy: string): string =>
  JSON.stringify({ ...readObject(setting), proxy }, null, setting.includes('\n') ? 2 : 0)

/** A proxy's password is root's to see; others see that there is one. */
export function hideProxyPassword(setting: string): string {
  const proxy = proxyOf(setting)
  const hidden = withoutPassword(proxy)
  return hidden === proxy ? setting : withProxy(setting, hidden)
}

/** A password stands between the user's name and the last `@` of an address; a name without one is a token that is as secret. */
function withoutPassword(address: string): string {
  const start = address.indexOf('://') + 3
  const end = address.lastIndexOf('@')
  if (start < 3 || end <= start) return address
  const colon = address.indexOf(':', start)
  const from = colon < 0 || colon > end ? start : colon + 1
  return address.slice(0, from) + hiddenPassword + address.slice(end)
}
