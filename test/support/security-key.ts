import { createSign, generateKeyPairSync, hash, randomBytes } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const flags = { present: 0x01, verified: 0x04, attested: 0x40 }

type Asked = { challenge: string }
type Conduct = {
  /** Where the browser says it is. */
  origin?: string
  /** Without a finger or a PIN. */
  unverified?: boolean
}

const site = 'localhost'

/** A device that keeps one passkey for a site, as WebAuthn has it: what a browser with a security key would send. */
export function createSecurityKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(16)
  const state = { count: 0 }

  const authenticatorData = (more: number, attested: Buffer = Buffer.alloc(0)): Buffer => {
    state.count += 1
    const head = Buffer.alloc(5)
    head.writeUInt8(flags.present | more, 0)
    head.writeUInt32BE(state.count, 1)
    return Buffer.concat([hash('sha256', site, 'buffer'), head, attested])
  }
  const clientData = (type: string, { challenge }: Asked, { origin = `http://${site}` }: Conduct): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  const credential = { id: base64url(credentialId), rawId: base64url(credentialId), type: 'public-key' as const }

  return {
    /** The count it says next follows this one; a copy of the device counts from where it was copied. */
    countFrom: (count: number) => void (state.count = count),

    register: (asked: Asked, conduct: Conduct = {}) => {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ])
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, isoCBOR.encode(key)])
      const authData = authenticatorData(flags.verified | flags.attested, attested)
      const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(authData)],
      ])
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', asked, conduct)),
          attestationObject: base64url(isoCBOR.encode(attestation)),
          transports: ['internal'],
        },
      }
    },

    sign: (asked: Asked, conduct: Conduct = {}) => {
      const data = authenticatorData(conduct.unverified ? 0 : flags.verified)
      const client = clientData('webauthn.get', asked, conduct)
      const signed = Buffer.concat([data, hash('sha256', client, 'buffer')])
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: createSign('sha256').update(signed).sign(privateKey, 'base64url'),
        },
      }
    },
  }
}

export type SecurityKey = ReturnType<typeof createSecurityKey>
