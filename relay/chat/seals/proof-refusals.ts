/**
 * How vendors say that a proof of reasoning is not one of theirs: of another account, another model, or another vendor that
 * speaks their form and whose proofs look like theirs. Anthropic, on every cloud: "Invalid `signature` in `thinking` block".
 * OpenAI: "The encrypted content … could not be verified", xAI: "Could not decrypt the provided encrypted_content". Google:
 * "Thought signature is not valid", "Corrupted thought signature".
 */
const wordings: readonly (readonly RegExp[])[] = [
  [/invalid `?signature`? in `?thinking`? block/i],
  // The content itself stands between them, however long it is.
  [/encrypted content/i, /could not be (?:verified|decrypted)/i],
  [/could not (?:decrypt|decode) the provided encrypted_content/i],
  [/thought.?signature is not valid|(?:corrupted|invalid) thought.?signature/i],
]

type Words = { code: string | number | null; message: string }

/** Whether an upstream refused a call for the proofs of reasoning that it brings along. */
export const refusesProofs = ({
  status,
  original,
  ...own
}: Words & { status: number; original?: Words | undefined }): boolean => {
  const { code, message } = original ?? own
  return (
    status >= 400 &&
    status < 500 &&
    (code === 'invalid_encrypted_content' || wordings.some((parts) => parts.every((words) => words.test(message))))
  )
}
