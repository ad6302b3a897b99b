import { Button, Link as ChakraLink, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { resetPassword } from '#features/auth/schema.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { copyText } from '../../components/copy.tsx'
import { EntryPage } from '../../components/entry-page.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'

export function Page() {
  const [search] = useSearchParams()
  const [email, token] = [search.get('email') ?? '', search.get('token') ?? '']
  const [password, setPassword] = useState<string>()
  return (
    <EntryPage
      title={t('密码重置确认')}
      below={
        password === undefined && (
          <ChakraLink asChild>
            <Link href="/login">{t('返回登录')}</Link>
          </ChakraLink>
        )
      }
    >
      {email === '' || token === '' ? (
        <Notice tone="warning">{t('重置链接不完整，请从邮件中重新打开，或者重新申请。')}</Notice>
      ) : password === undefined ? (
        <ConfirmForm email={email} token={token} onDone={setPassword} />
      ) : (
        <Stack gap="4">
          <Notice>{t('这是您的新密码，只显示这一次。登录后请在个人设置中修改。')}</Notice>
          <CodeBlock title={t('新密码')} code={password} />
          <Button asChild variant="solid" size="lg">
            <Link href="/login">{t('去登录')}</Link>
          </Button>
        </Stack>
      )}
    </EntryPage>
  )
}

type ConfirmFormProps = { email: string; token: string; onDone: (password: string) => void }

function ConfirmForm({ email, token, onDone }: ConfirmFormProps) {
  const form = useZodForm({ schema: resetPassword, values: { email, token }, mode: 'onSubmit' })
  const run = trpc.auth.resetPassword.useMutation()
  const submit = async () => {
    const reset = run.mutateAsync({ email, token }).then((password) => {
      onDone(password)
      return password
    })
    if (await copyText(reset)) notify.success(t('新密码已复制到剪贴板'))
  }
  return (
    <InlineForm form={form} onSubmit={submit} submitLabel={t('确认重置密码')} wide>
      <TextField name="email" type="email" label={t('邮箱')} readOnly />
    </InlineForm>
  )
}
