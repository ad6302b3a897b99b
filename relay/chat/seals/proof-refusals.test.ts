import { expect, test } from 'vitest'
import { refusesProofs } from './proof-refusals.ts'

const refusal = (message: string, code: string | null = null, status = 400) => ({ status, code, message })

test.each([
  'messages.5.content.0: Invalid `signature` in `thinking` block',
  'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
  'The encrypted content gAAAA… could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
  'Could not decrypt the provided encrypted_content. Ensure that the value is the unmodified encrypted_content.',
  'Thought signature is not valid',
  'Corrupted thought signature.',
  'User messages cannot contain reasoning content. Please remove the reasoning content and try again.',
  "This model doesn't support the reasoningContent.reasoningText.signature field. Remove reasoningContent.reasoningText.signature and try again.",
  'Encrypted content cannot be used in a different region from the one that created it.',
])('a refusal of proofs is known by its words: %s', (message) => {
  expect(refusesProofs(refusal(message))).toBe(true)
  // Also where the operator hides them from callers.
  expect(refusesProofs({ ...refusal('upstream returned status 400'), original: { code: null, message } })).toBe(true)
})

test('or by its code', () => {
  expect(refusesProofs(refusal('no', 'invalid_encrypted_content'))).toBe(true)
})

test('another refusal is none, nor is a fault', () => {
  expect(refusesProofs(refusal('Function call is missing a thought_signature in functionCall parts'))).toBe(false)
  expect(refusesProofs(refusal('messages: at least one message is required'))).toBe(false)
  expect(
    refusesProofs(refusal("This model doesn't support the stopSequences field. Remove stopSequences and try again.")),
  ).toBe(false)
  expect(refusesProofs(refusal('Thought signature is not valid', null, 500))).toBe(false)
})
