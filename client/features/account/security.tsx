import { Button, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { roles } from '#core/roles.ts'
import { confirm } from '../../components/confirm.tsx'
import { Section } from '../../components/facts.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { queryClient } from '../../lib/query.ts'
import { forgetReader } from '../../lib/reader-storage.ts'
import { forgetUser } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import { AccessToken } from './access-token.tsx'
import type { AccountProps } from './account.ts'
import { PasswordForm } from './password-form.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

export function Security({ account }: AccountProps) {
  const [accessToken, setAccessToken] = useState<string>()
  return (
    <Stack gap="8">
      <PasswordForm account={account} onChanged={() => setAccessToken(undefined)} />
      <SecondFactor />
      <Sessions />
      <AccessToken account={account} token={accessToken} onCreated={setAccessToken} />
      {account.role < roles.root && <RemoveAccount account={account} />}
    </Stack>
  )
}

function RemoveAccount({ account }: AccountProps) {
  const remove = trpc.user.account.remove.useMutation()
  const [, navigate] = useLocation()
  const ask = async () => {
    const removed = await confirm({
      title: t('删除账户“{name}”？', { name: account.username }),
      body: t('所有令牌立即失效，余额作废，账户无法恢复。请输入你的账户名以确认删除！'),
      confirmLabel: t('删除账户'),
      danger: true,
      typeToConfirm: account.username,
      run: () => remove.mutateAsync({ username: account.username }),
    })
    if (!removed) return
    forgetUser()
    forgetReader(account.id)
    queryClient.clear()
    navigate('/login')
    notify.success(t('账户已删除！'))
  }
  return (
    <Section title={t('删除账户')}>
      <Stack gap="3" align="flex-start">
        <Text textStyle="sm" color="fg.muted" maxW="prose">
          {t('删除后无法恢复，余额和令牌全部作废。')}
        </Text>
        <Button variant="surface" colorPalette="bad" onClick={() => void ask()}>
          {t('删除账户')}
        </Button>
      </Stack>
    </Section>
  )
}
