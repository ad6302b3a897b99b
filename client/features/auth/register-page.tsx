import { Link as ChakraLink, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { Link, Redirect, useLocation, useSearchParams } from 'wouter'
import { z } from 'zod'
import { inviteCode } from '#core/account-fields.ts'
import { refusal } from '#core/refusal.ts'
import { register } from '#features/auth/schema.ts'
import { BotCheck } from '../../components/bot-check.tsx'
import { EntryPage } from '../../components/entry-page.tsx'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { isTyped, useZodForm } from '../../lib/form.ts'
import { safeReturn, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { EmailCodeButton } from '../../components/email-code-button.tsx'
import { useBotCheck } from '../../lib/use-bot-check.ts'
import { invitation } from './invitation.ts'
import { ProviderButtons } from './provider-buttons.tsx'
import { SecondStep } from './second-step.tsx'
import type { SecondStepOf } from './signed-in.ts'

export function Page() {
  const { registerEnabled, passwordRegisterEnabled } = useStatus()
  const { user } = useSession()
  const [asked, setAsked] = useState<SecondStepOf>()
  const [search] = useSearchParams()
  const code = inviteCode.safeParse(search.get('aff')).data
  useEffect(() => {
    if (code) invitation.set(code)
  }, [code])
  if (user) return <Redirect to={safeReturn(search.get('returnTo'))} replace />
  return (
    <EntryPage
      title={t('注册')}
      heading={t('创建账户')}
      below={
        <Text>
          {t('已有账户？')}{' '}
          <ChakraLink asChild>
            <Link href={`/login${window.location.search}`}>{t('登录')}</Link>
          </ChakraLink>
        </Text>
      }
    >
      {asked ? (
        <SecondStep asked={asked} onGiveUp={() => setAsked(undefined)} />
      ) : (
        <Stack gap="4">
          {!registerEnabled ? (
            <Notice>{t('管理员已关闭新用户注册')}</Notice>
          ) : !passwordRegisterEnabled ? (
            <Notice>{t('管理员已关闭密码注册，请使用第三方账号注册')}</Notice>
          ) : (
            <RegisterForm />
          )}
          {registerEnabled && <ProviderButtons onSecondStep={setAsked} />}
        </Stack>
      )}
    </EntryPage>
  )
}

/** What is missing is said beside its field, and by its name. */
const typedAccount = z.looseObject({
  username: z.string().refine(isTyped, { error: () => t('请输入用户名') }),
  password: z.string().min(1, { error: () => t('请输入 8 到 20 个字符的密码') }),
  password2: z.string().min(1, { error: () => t('请再次输入密码') }),
})
const repeated = z.intersection(register.omit({ turnstile: true, affCode: true }), z.object({ password2: z.string() }))
const form = typedAccount.pipe(
  repeated.refine((values) => values.password === values.password2, {
    path: ['password2'],
    message: refusal('register.password_mismatch'),
  }),
)

const empty = { username: '', password: '', password2: '', email: '', verificationCode: '' }

function RegisterForm() {
  const { emailVerification } = useStatus()
  const [, navigate] = useLocation()
  const methods = useZodForm({ schema: form, values: empty, mode: 'onSubmit' })
  const run = trpc.auth.register.useMutation()
  const bot = useBotCheck()
  const submit = async (values: z.output<typeof form>) => {
    const account = { ...values, affCode: invitation.get() }
    await bot.with((turnstile) => run.mutateAsync({ ...account, turnstile }))
    invitation.set('')
    notify.success(t('注册成功！'))
    navigate(`/login${window.location.search}`)
  }
  return (
    <InlineForm
      form={methods}
      onSubmit={submit}
      submitLabel={t('注册')}
      wide
      fieldOf={{
        'user.username_taken': 'username',
        'user.username_similar': 'username',
        'user.username_confusing': 'username',
        'register.email_required': 'email',
        'verification.code_invalid': 'verificationCode',
        'email.taken': 'email',
      }}
    >
      <Stack gap="4">
        <TextField name="username" label={t('用户名')} autoComplete="username" autoFocus required />
        <SecretField
          name="password"
          label={t('密码')}
          help={t('8 到 20 个字符')}
          autoComplete="new-password"
          required
        />
        <SecretField name="password2" label={t('确认密码')} autoComplete="new-password" required />
        {emailVerification && (
          <>
            <TextField
              name="email"
              type="email"
              label={t('邮箱')}
              autoComplete="email"
              required
              end={<EmailCodeButton bot={bot} />}
            />
            <TextField name="verificationCode" label={t('邮箱验证码')} autoComplete="one-time-code" required />
          </>
        )}
        <BotCheck {...bot.props} />
      </Stack>
    </InlineForm>
  )
}
