import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto'

/** What is encrypted at rest, and how secrets are found without being readable. */
export type Secrets = {
  /** AES-256-GCM; a fresh nonce each time, so equal texts look different. */
  encrypt: (text: string) => string
  /** @throws when the text was not written under this key. */
  decrypt: (text: string) => string
  /** Keyed fingerprint, hex: the same text gives the same value, useless without the key. */
  hmac: (text: string) => string
}

export function createSecrets(secretKey: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, 'gateway', purpose, 32))
  const encryptionKey = derive('encryption')
  const hmacKey = derive('lookup')
  return {
    encrypt: (text) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    decrypt: (text) => {
      if (!text.startsWith('v1.')) throw new Error('not an encrypted value')
      const bytes = Buffer.from(text.slice(3), 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', encryptionKey, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
    hmac: (text) => createHmac('sha256', hmacKey).update(text).digest('hex'),
  }
}

/** For secrets of at least 128 random bits, where a plain hash cannot be guessed back. */
export const sha256 = (text: string): string => hash('sha256', text)
