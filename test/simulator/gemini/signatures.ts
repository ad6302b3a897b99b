import { createHash } from 'node:crypto'
import { refuse } from '../prompt.ts'

/** Signatures this vendor hands out begin with these bytes; one that does not is refused. */
const signatureMark = Buffer.from('sim-gemini-signature.')

export const signatureOf = (text: string): string =>
  Buffer.concat([signatureMark, createHash('sha256').update(text).digest()]).toString('base64')

export function checkSignature(signature: unknown): void {
  if (
    typeof signature === 'string' &&
    !Buffer.from(signature, 'base64').subarray(0, signatureMark.length).equals(signatureMark) &&
    signature !== 'skip_thought_signature_validator'
  )
    refuse('Thought signature is not valid')
}
