import { Stack, Text } from '@chakra-ui/react'
import { z } from 'zod'
import { refusal } from '#core/refusal.ts'
import { t } from '../i18n/t.ts'
import { useZodForm } from '../lib/form.ts'
import { reportedWhenFailed } from '../lib/query.ts'
import { trpc } from '../lib/trpc.ts'
import { answerVerification } from '../lib/verification.ts'
import { SecretField } from './fields/text-fields.tsx'
import { InlineForm } from './inline-form.tsx'
import { Notice } from './notice.tsx'
import { PlainDialog } from './plain-dialog.tsx'

const fields = z.object({ password: z.string().min(1, refusal('user.password_wrong')).max(200) })

/** Asks for the password before a way in or a second factor is added; what waited for it goes on by itself. */
export function PasswordDialog() {
  const account = trpc.user.account.get.useQuery(undefined, reportedWhenFailed)
  const run = trpc.user.secondFactor.confirmPassword.useMutation()
  const form = useZodForm({ schema: fields, values: { password: '' }, mode: 'onSubmit' })
  const give = async ({ password }: z.output<typeof fields>) => {
    await run.mutateAsync({ password })
    answerVerification(true)
  }
  return (
    <PlainDialog title={t('请验证是您本人')} onClose={() => answerVerification(false)}>
      {account.data?.hasPassword === false ? (
        <Notice>{t('此账户没有密码。请退出后重新登录，并在十分钟内再试。')}</Notice>
      ) : (
        <Stack gap="4">
          <Text textStyle="sm" color="fg.muted">
            {t('请输入当前密码，之后十分钟内不再询问。')}
          </Text>
          <InlineForm
            form={form}
            onSubmit={give}
            submitLabel={t('确认')}
            wide
            closes
            fieldOf={{ 'user.password_wrong': 'password' }}
          >
            <SecretField name="password" label={t('当前密码')} autoComplete="current-password" autoFocus />
          </InlineForm>
        </Stack>
      )}
    </PlainDialog>
  )
}
