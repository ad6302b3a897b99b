import type { ProviderCall } from '../types.ts'

type Surface = { path: string; domain: string }

const surface = (path: string, domain: string): Surface => ({ path, domain })

/** Versions → where the socket serves them, and the name of the model there. */
const surfaces: Readonly<Record<string, Surface>> = {
  'v1.1': surface('/v1.1/chat', 'lite'),
  'v2.1': surface('/v2.1/chat', 'generalv2'),
  'v3.1': surface('/v3.1/chat', 'generalv3'),
  'v3.5': surface('/v3.5/chat', 'generalv3.5'),
  'v4.0': surface('/v4.0/chat', '4.0Ultra'),
  'pro-128k': surface('/chat/pro-128k', 'pro-128k'),
  'max-32k': surface('/chat/max-32k', 'max-32k'),
  // Whoever asks for the first of them is answered by its successor: https://www.xfyun.cn/doc/spark/X1http.html
  x1: surface('/v1/x1', 'spark-x'),
}

/** Models that are named as the vendor names them. */
const versionOfDomain = new Map([
  ...Object.entries(surfaces).map(([version, { domain }]): [string, string] => [domain, version]),
  ['x1', 'x1'],
])

/**
 * The version is what follows the only dash of the model's name, else the channel's, else the caller's. Each version is another
 * model: a caller who could choose it beside a name would be answered by one that costs more than the one that is charged.
 */
export function versionOf({ channel, model, query }: ProviderCall): string {
  const parts = model.split('-')
  const named = parts.length === 2 ? parts[1] : undefined
  return versionOfDomain.get(model) || named || channel.other || query['api-version'] || 'v1.1'
}

export const domainOf = (version: string): string | undefined =>
  Object.hasOwn(surfaces, version) ? surfaces[version]?.domain : undefined

/** Where the socket of a version is; one that nobody knows follows the family's rule. */
export const surfaceOf = (version: string): Surface =>
  (Object.hasOwn(surfaces, version) ? surfaces[version] : undefined) ??
  surface(`/${encodeURIComponent(version)}/chat`, `general${version}`)

/** Versions below 3.5 take instructions only as something the user said. */
export const takesInstructions = (version: string): boolean =>
  version === 'max-32k' || version === 'x1' || Number(/^v?(\d+(?:\.\d+)?)$/.exec(version)?.[1] ?? 0) >= 3.5
