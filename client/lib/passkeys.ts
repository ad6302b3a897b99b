import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'

const library = () => import('@simplewebauthn/browser')

/** Browsers offer passkeys over TLS and on this machine itself only. */
export const hasPasskeys = (): boolean => typeof window !== 'undefined' && 'PublicKeyCredential' in window

/** For a page that offers passkeys, ahead of the press: iOS up to 17.3 no longer counts a press that has waited for a file. */
export function fetchPasskeys(): void {
  // Browsers remember a file that did not come for as long as the page stands.
  if (hasPasskeys() && navigator.onLine) void library().catch(() => undefined)
}

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
