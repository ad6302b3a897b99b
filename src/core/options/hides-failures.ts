import type { OptionsReader } from './registry/index.ts'

/** Whether callers and users read nothing of what upstreams say of a failure. Administrators always do. */
export const hidesFailures = ({ options }: { options: Pick<OptionsReader, 'get'> }): boolean =>
  options.get('global.hide_upstream_error_enabled')
