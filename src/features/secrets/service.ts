import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** What is encrypted at rest, and how secrets are found without being readable. */
export type Secrets = {
  /** AES-256-GCM; a fresh nonce each time, so equal texts look different. */
  encrypt: (text: string) => string
  /** @throws when the text was not written under this key. */
  decrypt: (text: string) => string
  /** The same of bytes that leave the installation and come back, compressed, under a key of their own. */
  seal: (bytes: Uint8Array) => Buffer
  /** Nothing for bytes that this installation did not seal, or that were changed on the way. */
  unseal: (bytes: Uint8Array) => Buffer | undefined
  /** Keyed fingerprint, hex: the same text gives the same value, useless without the key. */
  hmac: (text: string) => string
}

/** More is not read back: little that is compressed may become a great deal. */
const largestSealed = 16 * 1024 * 1024

const nonceLength = 12
const bodyStart = 28

function encryptBytes(key: Buffer, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** @throws when the bytes were not written under this key. */
function decryptBytes(key: Buffer, bytes: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), { authTagLength: 16 })
  decipher.setAuthTag(bytes.subarray(nonceLength, bodyStart))
  return Buffer.concat([decipher.update(bytes.subarray(bodyStart)), decipher.final()])
}

export function createSecrets(secretKey: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, 'gateway', purpose, 32))
  const encryptionKey = derive('encryption')
  const sealingKey = derive('sealing')
  const hmacKey = derive('lookup')
  return {
    encrypt: (text) => `v1.${encryptBytes(encryptionKey, Buffer.from(text)).toString('base64url')}`,
    decrypt: (text) => {
      if (!text.startsWith('v1.')) throw new Error('not an encrypted value')
      return decryptBytes(encryptionKey, Buffer.from(text.slice(3), 'base64url')).toString('utf8')
    },
    seal: (bytes) => encryptBytes(sealingKey, deflateRawSync(bytes)),
    unseal: (bytes) => {
      if (bytes.length < bodyStart) return undefined
      try {
        return inflateRawSync(decryptBytes(sealingKey, bytes), { maxOutputLength: largestSealed })
      } catch {
        return undefined
      }
    },
    hmac: (text) => createHmac('sha256', hmacKey).update(text).digest('hex'),
  }
}

/** For secrets of at least 128 random bits, where a plain hash cannot be guessed back. */
export const sha256 = (text: string): string => hash('sha256', text)
