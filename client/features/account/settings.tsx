import { Button, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { settings } from '#features/users/schema.ts'
import { Section } from '../../components/facts.tsx'
import { SelectField, SwitchField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { errorText, refusedFields } from '../../lib/errors.ts'
import { beginAnew, useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Account, AccountProps } from './account.ts'
import { useRefreshAccount } from './account.ts'
import { thresholdPresets } from './thresholds.ts'

type Values = Required<z.input<typeof settings>>

const valuesOf = ({ settings: saved }: Account): Values => ({
  notifyType: saved?.notifyType === 'webhook' ? 'webhook' : 'email',
  quotaWarningThreshold: saved?.quotaWarningThreshold ?? null,
  webhookUrl: saved?.webhookUrl ?? '',
  webhookSecret: saved?.webhookSecret ?? '',
  notificationEmail: saved?.notificationEmail ?? '',
  acceptUnsetModelRatioModel: saved?.acceptUnsetModelRatioModel ?? false,
  showIpInLogs: saved?.showIpInLogs ?? false,
})

/** The settings are one record; each tab changes its own part and keeps the rest, as another window may have left it meanwhile. */
function SettingsForm({ account, children }: AccountProps & { children: ReactNode }) {
  const form = useZodForm({ schema: settings, values: valuesOf(account), mode: 'onSubmit' })
  const update = trpc.user.account.updateSettings.useMutation()
  const utils = trpc.useUtils()
  const refresh = useRefreshAccount()
  // Read with every drawing, so that the form keeps track of it.
  const { dirtyFields } = form.formState
  const save = async (values: z.output<typeof settings>) => {
    const sent = form.getValues()
    const typed = Object.entries(values).filter(([name]) => name in dirtyFields)
    const stored = valuesOf(await utils.user.account.get.fetch(undefined, { staleTime: 0 }))
    const merged = { ...stored, ...Object.fromEntries(typed) }
    await update.mutateAsync(merged)
    beginAnew(form, { sent, stored: merged })
    notify.success(t('设置已更新'))
    await refresh()
  }
  return (
    <InlineForm
      form={form}
      onSubmit={save}
      submitLabel={t('保存')}
      disabled={!form.formState.isDirty}
      guarded
      failed={t('更新设置失败')}
    >
      <Stack gap="4">{children}</Stack>
    </InlineForm>
  )
}

export function NotificationSettings({ account }: AccountProps) {
  return (
    <SettingsForm account={account}>
      <QuotaField
        name="quotaWarningThreshold"
        label={t('额度预警阈值')}
        presets={thresholdPresets}
        instead={account.siteWarningThreshold}
        help={t('余额低于它时通知您，两小时内最多一次。留空则按本站的阈值。')}
      />
      <SelectField
        name="notifyType"
        label={t('通知方式')}
        choices={[
          { value: 'email', label: t('邮件') },
          { value: 'webhook', label: 'Webhook' },
        ]}
      />
      <Destination account={account} />
    </SettingsForm>
  )
}

function Destination({ account }: AccountProps) {
  const notifyType = useWatch<Values, 'notifyType'>({ name: 'notifyType' })
  if (notifyType === 'email') {
    return (
      <TextField
        name="notificationEmail"
        type="email"
        label={t('通知邮箱')}
        placeholder={account.email}
        help={t('留空则使用绑定的邮箱。')}
      />
    )
  }
  return (
    <>
      <TextField
        name="webhookUrl"
        type="url"
        label={t('Webhook 地址')}
        placeholder="https://"
        help={t('必须是 https 地址，并能接收 POST 请求。')}
        required
      />
      <SecretField
        name="webhookSecret"
        label={t('Webhook 密钥')}
        help={t('可选。用来给通知签名，让您确认它来自本站。')}
      />
      <WebhookTest />
    </>
  )
}

/** With what is typed, saved or not. */
function WebhookTest() {
  const { getValues, setError } = useFormContext<Values>()
  const test = trpc.user.account.testWebhook.useMutation()
  const send = async () => {
    const { webhookUrl, webhookSecret } = getValues()
    try {
      await test.mutateAsync({ webhookUrl, webhookSecret })
      notify.success(t('测试通知已送达'))
    } catch (error) {
      const message = refusedFields(error)['webhookUrl'] ?? errorText(error)
      setError('webhookUrl', { type: 'server', message }, { shouldFocus: true })
    }
  }
  return (
    <Button alignSelf="flex-start" loading={test.isPending} onClick={() => void send()}>
      {t('发送测试通知')}
    </Button>
  )
}

export function PriceSettings({ account }: AccountProps) {
  return (
    <SettingsForm account={account}>
      <SwitchField
        name="acceptUnsetModelRatioModel"
        label={t('接受未设置价格的模型')}
        help={t('开启后可以调用管理员没有定价的模型，它们可能按很高的价格计费。')}
      />
    </SettingsForm>
  )
}

export function PrivacySettings({ account }: AccountProps) {
  return (
    <Section title={t('日志')}>
      <SettingsForm account={account}>
        <SwitchField
          name="showIpInLogs"
          label={t('在日志中记录 IP')}
          help={t('使用日志和错误日志会记下调用方的 IP 地址。')}
        />
      </SettingsForm>
    </Section>
  )
}
