import { Suspense, lazy, useSyncExternalStore } from 'react'
import { isVerificationAsked, onVerificationAsked } from '../lib/verification.ts'

const VerificationDialog = lazy(async () => ({
  default: (await import('./verification-dialog.tsx')).VerificationDialog,
}))

/** Mounted once; asks for the second factor when a call wants it. */
export function VerificationHost() {
  const asked = useSyncExternalStore(onVerificationAsked, isVerificationAsked)
  if (!asked) return null
  return (
    <Suspense fallback={null}>
      <VerificationDialog />
    </Suspense>
  )
}
