import { Link as ChakraLink, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { Link, Redirect, useSearchParams } from 'wouter'
import { z } from 'zod'
import type { Login } from '#features/auth/schema.ts'
import { login } from '#features/auth/schema.ts'
import { BotCheck } from '../../components/bot-check.tsx'
import { EntryPage } from '../../components/entry-page.tsx'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { PasskeyButton } from '../../components/second-factor-form.tsx'
import { t } from '../../i18n/t.ts'
import { isTyped, useZodForm } from '../../lib/form.ts'
import { hasPasskeys, signWithPasskey } from '../../lib/passkeys.ts'
import { safeReturn, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { useBotCheck } from '../../lib/use-bot-check.ts'
import { callbackFailure } from './callback-failure.ts'
import { ProviderButtons } from './provider-buttons.tsx'
import { SecondStep } from './second-step.tsx'
import { type SecondStepOf, useSignedIn } from './signed-in.ts'

export function Page() {
  const { systemName, selfUseModeEnabled, registerEnabled, passwordLoginEnabled } = useStatus()
  const [search] = useSearchParams()
  const { user } = useSession()
  const returnTo = safeReturn(search.get('returnTo'))
  const [asked, setAsked] = useState<SecondStepOf>()
  const [failure] = useState(callbackFailure.get)
  useEffect(() => callbackFailure.set(''), [])
  // Whoever is signed in already, or has just become so, goes on.
  if (user) return <Redirect to={returnTo} replace />
  return (
    <EntryPage
      title={t('登录')}
      heading={systemName ? t('登录 {name}', { name: systemName }) : undefined}
      below={
        registerEnabled &&
        !selfUseModeEnabled && (
          <Text>
            {t('没有账户？')}{' '}
            <ChakraLink asChild>
              <Link href={`/register${window.location.search}`}>{t('注册')}</Link>
            </ChakraLink>
          </Text>
        )
      }
    >
      {failure !== '' && !asked && (
        <Notice tone="bad" isAlert>
          {failure}
        </Notice>
      )}
      {search.get('expired') === 'true' && <Notice tone="warning">{t('未登录或登录已过期，请重新登录')}</Notice>}
      {asked ? (
        <SecondStep asked={asked} onGiveUp={() => setAsked(undefined)} />
      ) : (
        <Stack gap="4">
          {passwordLoginEnabled ? <LoginForm onSecondStep={setAsked} /> : <Notice>{t('管理员已关闭密码登录')}</Notice>}
          {hasPasskeys() && <PasskeyLogin />}
          <ProviderButtons onSecondStep={setAsked} />
        </Stack>
      )}
    </EntryPage>
  )
}

/** What is missing is said beside its field, and by its name. */
const typedLogin = z
  .object({
    username: z.string().refine(isTyped, { error: () => t('请输入用户名或邮箱') }),
    password: z.string().min(1, { error: () => t('请输入密码') }),
  })
  .pipe(login.omit({ turnstile: true }))

function LoginForm({ onSecondStep }: { onSecondStep: (asked: SecondStepOf) => void }) {
  const form = useZodForm({ schema: typedLogin, values: { username: '', password: '' }, mode: 'onSubmit' })
  const run = trpc.auth.login.useMutation()
  const bot = useBotCheck()
  const signedIn = useSignedIn()
  const submit = async (values: Omit<Login, 'turnstile'>) => {
    const result = await bot.with((turnstile) => run.mutateAsync({ ...values, turnstile }))
    if ('secondStep' in result) onSecondStep(result.secondStep)
    else signedIn(result)
  }
  return (
    <InlineForm
      form={form}
      onSubmit={submit}
      submitLabel={t('登录')}
      wide
      fieldOf={{ 'login.failed': 'password', 'login.fields_missing': 'username' }}
    >
      <Stack gap="4">
        <TextField name="username" label={t('用户名或邮箱')} autoComplete="username" autoFocus />
        <SecretField
          name="password"
          label={t('密码')}
          autoComplete="current-password"
          extra={
            <ChakraLink asChild textStyle="xs">
              <Link href="/reset">{t('忘记密码？')}</Link>
            </ChakraLink>
          }
        />
        <BotCheck {...bot.props} />
      </Stack>
    </InlineForm>
  )
}

/** The device says by itself whose it is. */
function PasskeyLogin() {
  const options = trpc.public.secondFactor.passkeyOptions.useMutation()
  const login = trpc.public.secondFactor.loginByPasskey.useMutation()
  const signedIn = useSignedIn()
  const run = async () => {
    const response = await signWithPasskey(await options.mutateAsync())
    signedIn(await login.mutateAsync({ response }))
  }
  return <PasskeyButton label={t('使用通行密钥登录')} run={run} />
}
