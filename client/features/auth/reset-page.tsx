import { Link as ChakraLink, Stack } from '@chakra-ui/react'
import { Link } from 'wouter'
import type { RequestMail } from '#features/auth/schema.ts'
import { requestMail } from '#features/auth/schema.ts'
import { BotCheck } from '../../components/bot-check.tsx'
import { EntryPage } from '../../components/entry-page.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import { useBotCheck } from '../../lib/use-bot-check.ts'
import { resendSeconds, useCountdown } from '../../lib/use-countdown.ts'

export function Page() {
  const form = useZodForm({ schema: requestMail, values: { email: '' }, mode: 'onSubmit' })
  const run = trpc.auth.requestPasswordReset.useMutation()
  const bot = useBotCheck()
  const [left, start] = useCountdown()
  const submit = async ({ email }: RequestMail) => {
    await bot.with((turnstile) => run.mutateAsync({ email, turnstile }))
    notify.success(t('重置邮件发送成功，请检查邮箱！'))
    start(resendSeconds)
  }
  return (
    <EntryPage
      title={t('密码重置')}
      description={t('输入账户的邮箱地址，重置链接会发到那里，10 分钟内有效。')}
      below={
        <ChakraLink asChild>
          <Link href="/login">{t('返回登录')}</Link>
        </ChakraLink>
      }
    >
      <InlineForm
        form={form}
        onSubmit={submit}
        submitLabel={left > 0 ? t('{left} 秒后重发', { left }) : t('发送重置邮件')}
        disabled={left > 0}
        wide
        fieldOf={{ 'email.invalid': 'email', 'email.required': 'email' }}
      >
        <Stack gap="4">
          <TextField name="email" type="email" label={t('邮箱')} autoComplete="email" autoFocus />
          <BotCheck {...bot.props} />
        </Stack>
      </InlineForm>
    </EntryPage>
  )
}
