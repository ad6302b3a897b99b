import type { ProviderChannel } from '../types.ts'

export type BedrockKey =
  | { kind: 'signing'; accessKeyId: string; secretAccessKey: string; region: string }
  | { kind: 'bearer'; token: string; region: string }

/** `accessKey|secretKey|region`, or `apiKey|region`. */
export function readKey(key: string): BedrockKey {
  const parts = key.split('|').map((part) => part.trim())
  const [first = '', second = '', third = ''] = parts
  return parts.length >= 3
    ? { kind: 'signing', accessKeyId: first, secretAccessKey: second, region: third }
    : { kind: 'bearer', token: first, region: second }
}

function suffixOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn'
  if (region.startsWith('eusc-')) return 'amazonaws.eu'
  if (region.startsWith('us-isob-')) return 'sc2s.sgov.gov'
  return region.startsWith('us-iso-') ? 'c2s.ic.gov' : 'amazonaws.com'
}

/** The channel's own address stands for an endpoint inside a private network. */
export const baseOf = (channel: ProviderChannel, service: string): string =>
  channel.baseUrl || `https://${service}.${readKey(channel.key).region}.${suffixOf(readKey(channel.key).region)}`
