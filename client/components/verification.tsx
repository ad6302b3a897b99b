import { Suspense, lazy } from 'react'
import { useStore } from '../lib/store.ts'
import { proofAsked } from '../lib/verification.ts'

const VerificationDialog = lazy(async () => ({
  default: (await import('./verification-dialog.tsx')).VerificationDialog,
}))

const PasswordDialog = lazy(async () => ({
  default: (await import('./password-dialog.tsx')).PasswordDialog,
}))

/** Mounted once; asks for the second factor, or the password, when a call wants it. */
export function VerificationHost() {
  const asked = useStore(proofAsked)
  if (!asked) return null
  return <Suspense fallback={null}>{asked === 'password' ? <PasswordDialog /> : <VerificationDialog />}</Suspense>
}
