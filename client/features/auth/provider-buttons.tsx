import { Button, HStack, Separator, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { fetchedPart } from '../../components/fetched-part.ts'
import { notify } from '../../components/notify.ts'
import { TelegramWidget } from '../../components/telegram-widget.tsx'
import { t } from '../../i18n/t.ts'
import { errorText } from '../../lib/errors.ts'
import { safeReturn } from '../../lib/session.ts'
import type { SiteStatus } from '../../lib/status.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { useLeaving } from '../../lib/use-leaving.ts'
import { rememberWayBack } from '../../lib/way-back.ts'
import { invitation } from './invitation.ts'
import { type SecondStepOf, useSignedIn } from './signed-in.ts'

// Fetched when somebody wants it: most sites have other ways in.
const wechatDialog = fetchedPart(async () => (await import('../../components/wechat-dialog.tsx')).WeChatDialog)

type OAuthProvider = 'github' | 'oidc' | 'linuxdo'

const oauthProviders: { id: OAuthProvider; label: string; isOn: (status: SiteStatus) => boolean }[] = [
  { id: 'github', label: 'GitHub', isOn: ({ githubOauth }) => githubOauth },
  { id: 'oidc', label: 'OIDC', isOn: ({ oidcEnabled }) => oidcEnabled },
  { id: 'linuxdo', label: 'Linux DO', isOn: ({ linuxdoOauth }) => linuxdoOauth },
]

/** The other ways in that the site has switched on; nothing where there are none. */
export function ProviderButtons({ onSecondStep }: { onSecondStep: (asked: SecondStepOf) => void }) {
  const status = useStatus()
  const offered = oauthProviders.filter(({ isOn }) => isOn(status))
  if (offered.length === 0 && !status.wechatLogin && !status.telegramOauth) return null
  return (
    <Stack gap="3">
      <HStack gap="3">
        <Separator flex="1" />
        <Text textStyle="xs" color="fg.muted">
          {t('或')}
        </Text>
        <Separator flex="1" />
      </HStack>
      {offered.map(({ id, label }) => (
        <OAuthButton key={id} provider={id} label={label} />
      ))}
      {status.wechatLogin && <WeChatButton onSecondStep={onSecondStep} />}
      {status.telegramOauth && <TelegramButton />}
    </Stack>
  )
}

function OAuthButton({ provider, label }: { provider: OAuthProvider; label: string }) {
  const [search] = useSearchParams()
  const start = trpc.auth.oauth.start.useMutation()
  const [leaving, setLeaving] = useLeaving()
  const leave = async () => {
    setLeaving(true)
    try {
      const { address } = await start.mutateAsync({ provider, inviteCode: invitation.get() })
      rememberWayBack(safeReturn(search.get('returnTo')))
      window.location.assign(address)
    } catch (error) {
      setLeaving(false)
      notify.error(errorText(error))
    }
  }
  return (
    <Button variant="outline" size="lg" loading={leaving} onClick={() => void leave()}>
      {t('使用 {provider} 继续', { provider: label })}
    </Button>
  )
}

function WeChatButton({ onSecondStep }: { onSecondStep: (asked: SecondStepOf) => void }) {
  const [open, setOpen] = useState(false)
  const WeChatDialog = wechatDialog.usePart(open, () => setOpen(false))
  const signedIn = useSignedIn()
  const signIn = trpc.auth.wechat.useMutation()
  return (
    <>
      <Button variant="outline" size="lg" onClick={() => setOpen(true)}>
        {t('使用微信继续')}
      </Button>
      {open && WeChatDialog && (
        <WeChatDialog
          onClose={() => setOpen(false)}
          onCode={async (code) => {
            const result = await signIn.mutateAsync({ code })
            if ('secondStep' in result) onSecondStep(result.secondStep)
            else signedIn(result)
          }}
          submitLabel={t('登录')}
        />
      )}
    </>
  )
}

function TelegramButton() {
  const [search] = useSearchParams()
  return <TelegramWidget binds={false} wayBack={safeReturn(search.get('returnTo'))} />
}
