import { z } from 'zod'
import { password } from '#core/account-fields.ts'
import { refusal } from '#core/refusal.ts'
import { Section } from '../../components/facts.tsx'
import { SecretField } from '../../components/fields/text-fields.tsx'
import { FieldRow } from '../../components/form-drawer.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import type { AccountProps } from './account.ts'
import { useRefreshAccount } from './account.ts'

const fields = z
  .object({ currentPassword: z.string().max(200), password, repeated: z.string() })
  .refine((values) => values.password === values.repeated, {
    path: ['repeated'],
    message: refusal('user.password_mismatch'),
  })

const empty = { currentPassword: '', password: '', repeated: '' }

/** Another password ends the other sessions and the access token. */
export function PasswordForm({ account, onChanged }: AccountProps & { onChanged: () => void }) {
  const form = useZodForm({ schema: fields, values: empty, mode: 'onSubmit' })
  const update = trpc.user.account.update.useMutation()
  const utils = trpc.useUtils()
  const refresh = useRefreshAccount()
  const save = async (values: z.output<typeof fields>) => {
    await update.mutateAsync({ currentPassword: values.currentPassword, password: values.password })
    form.reset(empty, { keepDirtyValues: false })
    onChanged()
    notify.success(t('密码修改成功！'))
    await Promise.all([refresh(), utils.user.sessions.invalidate()])
  }
  return (
    <Section title={t('修改密码')}>
      <InlineForm
        form={form}
        onSubmit={save}
        submitLabel={t('修改密码')}
        fieldOf={{ 'user.password_wrong': 'currentPassword', 'user.password_length': 'password' }}
      >
        {account.hasPassword && (
          <SecretField name="currentPassword" label={t('当前密码')} autoComplete="current-password" />
        )}
        <FieldRow>
          <SecretField
            name="password"
            label={t('新密码')}
            autoComplete="new-password"
            help={t('8 到 20 个字符。其他浏览器上的登录会退出，系统访问令牌会失效。')}
          />
          <SecretField name="repeated" label={t('确认新密码')} autoComplete="new-password" />
        </FieldRow>
      </InlineForm>
    </Section>
  )
}
