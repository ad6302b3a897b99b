import { Button } from '@chakra-ui/react'
import { SecondFactorForm } from '../../components/second-factor-form.tsx'
import { t } from '../../i18n/t.ts'
import { signWithPasskey } from '../../lib/passkeys.ts'
import { trpc } from '../../lib/trpc.ts'
import { type SecondStepOf, useSignedIn } from './signed-in.ts'

type SecondStepProps = { asked: SecondStepOf; onGiveUp: () => void }

/** After the password or a login elsewhere: the second factor. */
export function SecondStep({ asked, onGiveUp }: SecondStepProps) {
  const byCode = trpc.public.secondFactor.finishByCode.useMutation()
  const options = trpc.public.secondFactor.finishOptions.useMutation()
  const byPasskey = trpc.public.secondFactor.finishByPasskey.useMutation()
  const signedIn = useSignedIn()
  const finishByPasskey = async () => {
    const response = await signWithPasskey(await options.mutateAsync())
    signedIn(await byPasskey.mutateAsync({ response }))
  }
  return (
    <>
      <SecondFactorForm
        explanation={t('您的账户开启了两步验证，请完成第二步。')}
        authenticator={asked.authenticator}
        onCode={async (code) => signedIn(await byCode.mutateAsync({ code }))}
        {...(asked.passkey ? { onPasskey: finishByPasskey } : {})}
      />
      <Button variant="ghost" onClick={onGiveUp}>
        {t('返回登录')}
      </Button>
    </>
  )
}
