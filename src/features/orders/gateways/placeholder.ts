/** What stands in examples and forgotten forms where a secret belongs: everybody knows it, so it signs nothing. */
const known = new Set(
  'secret password changeme change_me default example test demo none null undefined admin 123456 12345678 123456789 1234567890'.split(
    ' ',
  ),
)

/** `sk_test_...`, `whsec_xxx`, `your_secret_key`, `******`. */
const patterns = [/^(?:(?:sk|rk)_(?:test|live)_|whsec_)?[.x*0_-]*$/i, /^<.*>$/, /^your[ _-][a-z _-]{0,40}$/i]

/** Whether a secret is one. With none, or one that everybody knows, a provider does not start. */
export function isRealSecret(text: string): boolean {
  const secret = text.trim()
  return !known.has(secret.toLowerCase().replaceAll('-', '_')) && !patterns.some((pattern) => pattern.test(secret))
}
