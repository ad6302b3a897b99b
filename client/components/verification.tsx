import { useStore } from '../lib/store.ts'
import { answerVerification, proofAsked } from '../lib/verification.ts'
import { fetchedPart } from './fetched-part.ts'

const dialogs = {
  'second-factor': fetchedPart(async () => (await import('./verification-dialog.tsx')).VerificationDialog),
  password: fetchedPart(async () => (await import('./password-dialog.tsx')).PasswordDialog),
}

const giveUp = () => answerVerification(false)

/** Mounted once; asks for the second factor, or the password, when a call wants it. */
export function VerificationHost() {
  const asked = useStore(proofAsked)
  const SecondFactor = dialogs['second-factor'].usePart(asked === 'second-factor', giveUp)
  const Password = dialogs.password.usePart(asked === 'password', giveUp)
  if (!asked) return null
  const Dialog = asked === 'password' ? Password : SecondFactor
  return Dialog && <Dialog />
}
