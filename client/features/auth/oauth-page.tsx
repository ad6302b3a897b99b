import { Link as ChakraLink, HStack, Spinner, Text } from '@chakra-ui/react'
import { useEffect, useRef, useState } from 'react'
import { Link, Redirect, useLocation, useParams, useSearchParams } from 'wouter'
import { EntryPage } from '../../components/entry-page.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { errorText } from '../../lib/errors.ts'
import { useSession } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import { endTelegramVisit, takeWayBack } from '../../lib/way-back.ts'
import { callbackFailure } from './callback-failure.ts'
import { invitation } from './invitation.ts'
import { SecondStep } from './second-step.tsx'
import { type SecondStepOf, type SignIn, useSignedIn } from './signed-in.ts'

const labels = { github: 'GitHub', oidc: 'OIDC', linuxdo: 'Linux DO', telegram: 'Telegram' } as const
type Provider = keyof typeof labels
type OAuthProvider = Exclude<Provider, 'telegram'>

const isProvider = (text: string): text is Provider => Object.hasOwn(labels, text)

/** Where a provider leads back to: signs in or binds by itself, or leads to where it can be tried again and says why. */
export function Page() {
  const { provider = '' } = useParams<{ provider: string }>()
  if (!isProvider(provider)) {
    return (
      <EntryPage title={t('第三方登录')} below={<BackLink />}>
        <Notice tone="bad">{t('不支持的登录方式')}</Notice>
      </EntryPage>
    )
  }
  return <Callback key={provider} provider={provider} />
}

function BackLink() {
  const { user } = useSession()
  return (
    <ChakraLink asChild>
      <Link href={user ? '/app/me' : '/login'}>{user ? t('返回个人设置') : t('返回登录')}</Link>
    </ChakraLink>
  )
}

function Callback({ provider }: { provider: Provider }) {
  const label = labels[provider]
  const [, navigate] = useLocation()
  const { user } = useSession()
  const step = useFinish(provider)
  if (step && user) return <Redirect to={step.target} replace />
  return (
    <EntryPage title={t('第三方登录')} heading={t('{provider} 登录', { provider: label })}>
      {step ? (
        <SecondStep asked={step.asked} onGiveUp={() => navigate('/login')} />
      ) : (
        <HStack gap="3" role="status">
          <Spinner size="sm" />
          <Text>{t('处理中…')}</Text>
        </HStack>
      )}
    </EntryPage>
  )
}

/** The second factor is asked for before the reader goes on. */
type Step = { asked: SecondStepOf; target: string }

type Outcome = { bound: true; wayBack: string | null } | { bound: false; user: SignIn; wayBack: string | null }

/** Spends the code once, whatever redraws the page; then leaves it, or gives what is asked for next. */
function useFinish(provider: Provider): Step | null {
  const [, navigate] = useLocation()
  const { user, isRoot } = useSession()
  const ownPage = isRoot ? '/admin/settings' : '/app/me'
  const byOAuth = useOAuthAnswer()
  const byTelegram = useTelegramAnswer()
  const signedIn = useSignedIn()
  const [step, setStep] = useState<Step | null>(null)
  const begun = useRef(false)
  const run = async () => {
    const wayBack = takeWayBack()
    try {
      const outcome = provider === 'telegram' ? await byTelegram() : await byOAuth(provider, wayBack)
      if (outcome.bound) {
        notify.success(t('{provider} 账户绑定成功！', { provider: labels[provider] }))
        navigate(outcome.wayBack ?? ownPage, { replace: true })
        return
      }
      invitation.set('')
      const target = outcome.wayBack ?? '/app/tokens'
      if ('secondStep' in outcome.user) return setStep({ asked: outcome.user.secondStep, target })
      signedIn(outcome.user)
      navigate(target, { replace: true })
    } catch (error) {
      if (user) {
        notify.error(error)
        navigate(ownPage, { replace: true })
      } else {
        callbackFailure.set(errorText(error))
        const query = wayBack === null ? '' : `?${new URLSearchParams({ returnTo: wayBack })}`
        navigate(`/login${query}`, { replace: true })
      }
    }
  }
  useEffect(() => {
    if (begun.current) return
    begun.current = true
    void run()
  })
  return step
}

function useOAuthAnswer() {
  const [search] = useSearchParams()
  const finish = trpc.auth.oauth.finish.useMutation()
  return async (provider: OAuthProvider, wayBack: string | null): Promise<Outcome> => {
    const given = (name: string) => search.get(name) ?? ''
    const finished = await finish.mutateAsync({
      provider,
      state: given('state'),
      code: given('code'),
      issuer: given('iss'),
      error: given('error'),
      errorDescription: given('error_description'),
    })
    return finished.outcome === 'bound' ? { bound: true, wayBack } : { bound: false, user: finished.user, wayBack }
  }
}

function useTelegramAnswer() {
  const [search] = useSearchParams()
  const signIn = trpc.auth.telegram.useMutation()
  const bind = trpc.user.account.bindings.bindTelegram.useMutation()
  return async (): Promise<Outcome> => {
    const { state = '', ...fields } = Object.fromEntries(search)
    const visit = endTelegramVisit(state)
    if (!visit) throw new Error(t('登录状态校验失败，请重新登录'))
    if (visit.binds) {
      await bind.mutateAsync({ fields })
      return { bound: true, wayBack: visit.wayBack }
    }
    return { bound: false, user: await signIn.mutateAsync({ fields }), wayBack: visit.wayBack }
  }
}
