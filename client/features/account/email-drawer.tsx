import type { BindEmail } from '#features/auth/schema.ts'
import { bindEmail } from '#features/auth/schema.ts'
import { useEffect } from 'react'
import { BotCheck } from '../../components/bot-check.tsx'
import { EmailCodeButton } from '../../components/email-code-button.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import { useBotCheck } from '../../lib/use-bot-check.ts'
import { useRefreshAccount } from './account.ts'

const empty = { email: '', code: '' }

/** An address counts once the code that was mailed there comes back. */
export function EmailDrawer({ open, onClose }: { open: boolean; onClose: () => void }) {
  const form = useZodForm({ schema: bindEmail, values: empty })
  const { reset } = form
  const bind = trpc.auth.bindEmail.useMutation()
  const bot = useBotCheck()
  const refresh = useRefreshAccount()
  useEffect(() => {
    if (open) reset(empty)
  }, [open, reset])
  const save = async (values: BindEmail) => {
    await bind.mutateAsync(values)
    notify.success(t('邮箱绑定成功！'))
    await refresh()
  }
  return (
    <FormDrawer open={open} onClose={onClose} title={t('绑定邮箱')} form={form} onSubmit={save} submitLabel={t('绑定')}>
      <FormSection>
        <TextField
          name="email"
          type="email"
          label={t('邮箱')}
          autoComplete="email"
          autoFocus
          end={<EmailCodeButton bot={bot} />}
        />
        <TextField name="code" label={t('邮箱验证码')} autoComplete="one-time-code" />
        <BotCheck {...bot.props} />
      </FormSection>
    </FormDrawer>
  )
}
