/** Enough of an answer to tell what it is. */
const headLength = 1024

const control = (byte: number): boolean => byte < 0x20 && (byte < 9 || byte > 13)

/** Whether bytes are words: sound and images have bytes among their first that texts have not. */
export function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, headLength)
  if (head.some(control)) return false
  try {
    // A letter may be cut at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Whether bytes are a page, as proxies and logins answer with, or another vendor's error in XML. */
export const isPage = (bytes: Uint8Array): boolean =>
  /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(new TextDecoder().decode(bytes.subarray(0, headLength)))
