/** The proxy that every upstream call of a channel goes through, logins and uploads included. */
export function proxyOf(setting: Record<string, unknown>): string | undefined {
  const { proxy } = setting
  return typeof proxy === 'string' && proxy !== '' ? proxy : undefined
}
