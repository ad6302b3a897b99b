import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'

const library = () => import('@simplewebauthn/browser')

/** For a page that offers passkeys, ahead of the press: one that waited for a file is none any more to iOS up to 17.3. */
export const fetchPasskeys = (): void => void library().catch(() => undefined)

/** Browsers offer passkeys over TLS and on this machine itself only. */
export const hasPasskeys = (): boolean => typeof window !== 'undefined' && 'PublicKeyCredential' in window

/** Asks the device to make a passkey. */
export async function makePasskey(optionsJSON: PublicKeyCredentialCreationOptionsJSON) {
  const { startRegistration } = await library()
  return startRegistration({ optionsJSON })
}

/** Asks the device to sign with one. */
export async function signWithPasskey(optionsJSON: PublicKeyCredentialRequestOptionsJSON) {
  const { startAuthentication } = await library()
  return startAuthentication({ optionsJSON })
}

/** The reader closed the browser's own dialog, or no device answered in time. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'NotAllowedError' || error.name === 'AbortError')

/** The device has a passkey for this account already. */
export const isKnownPasskey = (error: unknown): boolean => error instanceof Error && error.name === 'InvalidStateError'
