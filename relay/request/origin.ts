import type { Incoming, RelayServices } from './call.ts'

/** The address that the caller reached us by, or the site's own where that is the same place. */
export function originOf({ options }: RelayServices, { req }: Pick<Incoming, 'req'>): string {
  const host = req.get('host') ?? ''
  const known = options.get('ServerAddress')
  return URL.canParse(known) && new URL(known).host === host ? new URL(known).origin : `${req.protocol}://${host}`
}
