import type { ProviderChannel } from '../types.ts'

/** The server itself, without the path of either of its surfaces. */
export const serverOf = ({ baseUrl }: Pick<ProviderChannel, 'baseUrl'>): string => baseUrl.replace(/\/(api|v1)$/, '')

export const nativeUrl = (channel: Pick<ProviderChannel, 'baseUrl'>, operation: string): string =>
  `${serverOf(channel)}/api${operation}`
