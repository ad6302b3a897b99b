import { t } from '../i18n/t.ts'
import { reportedWhenFailed } from '../lib/query.ts'
import { trpc } from '../lib/trpc.ts'
import { answerVerification } from '../lib/verification.ts'
import { signWithPasskey } from '../lib/passkeys.ts'
import { PlainDialog } from './plain-dialog.tsx'
import { SecondFactorForm } from './second-factor-form.tsx'

/** Asks for the second factor again; what waited for it goes on by itself. */
export function VerificationDialog() {
  const factor = trpc.user.secondFactor.get.useQuery(undefined, reportedWhenFailed)
  const verify = trpc.user.secondFactor.verify.useMutation()
  const options = trpc.user.secondFactor.signatureOptions.useMutation()
  const verifyWithPasskey = trpc.user.secondFactor.verifyWithPasskey.useMutation()
  const byPasskey = async () => {
    const response = await signWithPasskey(await options.mutateAsync())
    await verifyWithPasskey.mutateAsync({ response })
    answerVerification(true)
  }
  const byCode = async (code: string) => {
    await verify.mutateAsync({ code })
    answerVerification(true)
  }
  return (
    <PlainDialog title={t('请验证是您本人')} onClose={() => answerVerification(false)}>
      <SecondFactorForm
        explanation={t('此操作需要两步验证，之后十分钟内不再询问。')}
        authenticator={factor.data?.authenticator ?? true}
        onCode={byCode}
        {...(factor.data && factor.data.passkeys > 0 ? { onPasskey: byPasskey } : {})}
      />
    </PlainDialog>
  )
}
