import { Button, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { PlugZap, Send } from 'lucide-react'
import { useState } from 'react'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useChanges } from './settings-form.ts'

/** What is tried is what is saved. */
const useIsUnsaved = (prefix: string): boolean => useChanges().some(({ key }) => key.startsWith(prefix))

function Unsaved() {
  return (
    <Text textStyle="sm" color="fg.muted">
      {t('测试使用已保存的设置，请先保存修改。')}
    </Text>
  )
}

export function MailTest() {
  const test = trpc.admin.options.testMail.useMutation()
  const profile = trpc.user.account.get.useQuery(undefined, reportedWhenFailed)
  const [typed, setTyped] = useState<string>()
  const isUnsaved = useIsUnsaved('SMTP')
  const to = typed ?? profile.data?.email ?? ''
  const send = async () => {
    try {
      await test.mutateAsync({ to })
      notify.success(t('测试邮件已发送至 {to}', { to }))
    } catch (error) {
      notify.error(error, t('测试邮件没有发出'))
    }
  }
  return (
    <Stack
      as="form"
      gap="2"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Text as="label" textStyle="label" {...{ htmlFor: 'test-mail-address' }}>
        {t('测试邮件的收件地址')}
      </Text>
      <HStack gap="2" maxW="md">
        <Input
          id="test-mail-address"
          type="email"
          required
          value={to}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit" flexShrink="0" loading={test.isPending} disabled={isUnsaved || to === ''}>
          <Send aria-hidden />
          {t('发送测试邮件')}
        </Button>
      </HStack>
      {isUnsaved && <Unsaved />}
    </Stack>
  )
}

export function OidcTest() {
  const test = trpc.admin.options.testOidc.useMutation()
  const isUnsaved = useIsUnsaved('oidc.')
  const run = async () => {
    try {
      const { tokenEndpoint } = await test.mutateAsync()
      notify.success(t('OIDC 服务器可用，客户端 ID 和密钥已被接受'), { description: tokenEndpoint })
    } catch (error) {
      notify.error(error, t('OIDC 测试失败'))
    }
  }
  return (
    <Stack gap="2" align="flex-start">
      <Button loading={test.isPending} disabled={isUnsaved} onClick={() => void run()}>
        <PlugZap aria-hidden />
        {t('测试 OIDC 连接')}
      </Button>
      {isUnsaved && <Unsaved />}
    </Stack>
  )
}
