import { Button } from '@chakra-ui/react'
import { useFormContext } from 'react-hook-form'
import { notify } from './notify.ts'
import { t } from '../i18n/t.ts'
import { errorText, refusedFields } from '../lib/errors.ts'
import { trpc } from '../lib/trpc.ts'
import type { useBotCheck } from '../lib/use-bot-check.ts'
import { resendSeconds, useCountdown } from '../lib/use-countdown.ts'

/** Sends a code to the address in the form's `email`. */
export function EmailCodeButton({ bot }: { bot: ReturnType<typeof useBotCheck> }) {
  const { getValues, setError, clearErrors } = useFormContext<{ email: string }>()
  const run = trpc.auth.sendVerificationCode.useMutation()
  const [left, start] = useCountdown()
  const send = async () => {
    clearErrors('email')
    try {
      await bot.with((turnstile) => run.mutateAsync({ email: getValues('email'), turnstile }))
      notify.success(t('验证码发送成功'))
      start(resendSeconds)
    } catch (error) {
      const message = refusedFields(error)['email'] ?? errorText(error)
      setError('email', { type: 'server', message }, { shouldFocus: true })
    }
  }
  return (
    <Button loading={run.isPending} disabled={left > 0} onClick={() => void send()}>
      {left > 0 ? t('{left} 秒后重发', { left }) : t('获取验证码')}
    </Button>
  )
}
