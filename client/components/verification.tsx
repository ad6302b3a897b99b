import { Suspense, lazy, useSyncExternalStore } from 'react'
import { onVerificationAsked, proofAsked } from '../lib/verification.ts'

const VerificationDialog = lazy(async () => ({
  default: (await import('./verification-dialog.tsx')).VerificationDialog,
}))

const PasswordDialog = lazy(async () => ({
  default: (await import('./password-dialog.tsx')).PasswordDialog,
}))

/** Mounted once; asks for the second factor, or the password, when a call wants it. */
export function VerificationHost() {
  const asked = useSyncExternalStore(onVerificationAsked, proofAsked)
  if (!asked) return null
  return <Suspense fallback={null}>{asked === 'password' ? <PasswordDialog /> : <VerificationDialog />}</Suspense>
}
