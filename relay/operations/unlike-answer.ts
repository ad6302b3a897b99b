/** Enough of an answer to tell what it is. */
export const headLength = 1024

/** No error is longer. */
export const longestError = 1_048_576

const control = (byte: number): boolean => byte < 0x20 && (byte < 9 || byte > 13)

const headOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(0, headLength))

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

/** Whether bytes begin like a JSON object. */
export const isJson = (bytes: Uint8Array): boolean => isText(bytes) && /^\s*\{/.test(headOf(bytes))

/**
 * Whether more of an answer has to come until it is plain what it is: upstreams and proxies cut anywhere. Of speech that is announced
 * as text no words are any, whatever they begin with.
 */
export const isUndecided = (head: Uint8Array, isSpeechAsText: boolean): boolean =>
  head.length < headLength && isText(head) && (isSpeechAsText || /^\s*(<|$)/.test(headOf(head)))

/** Whether bytes are a page, as proxies and logins answer with, or another vendor's error in XML. */
export const isPage = (bytes: Uint8Array): boolean => /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(headOf(bytes))
