/**
 * How vendors say that a proof of reasoning is not one of theirs: of another account, another model, or another vendor that
 * speaks their form and whose proofs look like theirs. Anthropic, on every cloud: "Invalid `signature` in `thinking` block",
 * or `data` in a `redacted_thinking` block.
 * OpenAI: "The encrypted content … could not be verified", xAI: "Could not decrypt the provided encrypted_content". Google:
 * "Thought signature is not valid", "Corrupted thought signature". Bedrock, whose models of other vendors mostly take none, not even of
 * another model: https://github.com/zed-industries/zed/issues/32341, https://github.com/aws-samples/bedrock-engineer/issues/239.
 */
const wordings: readonly (readonly RegExp[])[] = [
  [/invalid [`']?(?:signature|data)[`']? in [`']?(?:redacted_)?thinking[`']? block/i],
  // The content itself stands between them, however long it is.
  [/encrypted content/i, /could not be (?:verified|decrypted)|cannot be used in a different region/i],
  [/could not (?:decrypt|decode) the provided encrypted_content/i],
  [/thought.?signature is not valid|(?:corrupted|invalid) thought.?signature/i],
  [/cannot contain reasoning content|doesn['’]t support the reasoningContent\b/i],
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
