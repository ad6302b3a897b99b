import { Button, HStack, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { z } from 'zod'
import { displayName, storedUsername } from '#core/account-fields.ts'
import { Code } from '../../components/cells/names.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { FieldRow } from '../../components/form-drawer.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { beginAnew, useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import type { AccountProps } from './account.ts'
import { useRefreshAccount } from './account.ts'
import { Models } from './models.tsx'
import { Bindings } from './bindings.tsx'
import { EmailDrawer } from './email-drawer.tsx'

export function Profile({ account }: AccountProps) {
  return (
    <Stack gap="8">
      <Names account={account} />
      <Email account={account} />
      <AccountFacts account={account} />
      <Bindings />
      <Models />
    </Stack>
  )
}

const names = z.object({ username: storedUsername, displayName })

function Names({ account }: AccountProps) {
  const form = useZodForm({
    schema: names,
    values: { username: account.username, displayName: account.displayName },
    mode: 'onSubmit',
  })
  const update = trpc.user.account.update.useMutation()
  const refresh = useRefreshAccount()
  const { dirtyFields } = form.formState
  const save = async (values: z.output<typeof names>) => {
    const sent = form.getValues()
    // The other name may have been changed meanwhile, in another window or by an administrator.
    await update.mutateAsync({
      ...(dirtyFields.username && { username: values.username }),
      ...(dirtyFields.displayName && { displayName: values.displayName }),
    })
    beginAnew(form, { sent, stored: values })
    notify.success(t('用户信息更新成功！'))
    await refresh()
  }
  return (
    <Section title={t('个人信息')}>
      <InlineForm
        form={form}
        onSubmit={save}
        submitLabel={t('保存')}
        disabled={!form.formState.isDirty}
        guarded
        failed={t('更新失败')}
        fieldOf={{
          'user.username_taken': 'username',
          'user.username_similar': 'username',
          'user.username_confusing': 'username',
          'user.username_too_long': 'username',
        }}
      >
        <FieldRow>
          <TextField name="username" label={t('用户名')} autoComplete="username" required />
          <TextField name="displayName" label={t('显示名称')} autoComplete="nickname" />
        </FieldRow>
      </InlineForm>
    </Section>
  )
}

function Email({ account }: AccountProps) {
  const [open, setOpen] = useState(false)
  return (
    <Section title={t('邮箱')}>
      <HStack gap="4" wrap="wrap">
        <Text textStyle="sm" color={account.email ? undefined : 'fg.muted'} overflowWrap="anywhere">
          {account.email || t('未绑定。绑定后可以用邮箱登录和找回密码。')}
        </Text>
        <Button onClick={() => setOpen(true)}>{account.email ? t('更换邮箱') : t('绑定邮箱')}</Button>
      </HStack>
      <EmailDrawer open={open} onClose={() => setOpen(false)} />
    </Section>
  )
}

function AccountFacts({ account }: AccountProps) {
  return (
    <Section title={t('账户')}>
      <Facts
        facts={[
          { label: t('用户 ID'), value: <Code>{account.id}</Code> },
          { label: t('分组'), value: account.group },
        ]}
      />
    </Section>
  )
}
