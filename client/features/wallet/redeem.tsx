import { useState } from 'react'
import { redeem } from '#features/redemptions/schema.ts'
import { BotCheck } from '../../components/bot-check.tsx'
import { Section } from '../../components/facts.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { quotaText } from '../../lib/format.ts'
import { trpc } from '../../lib/trpc.ts'
import { useBotCheck } from '../../lib/use-bot-check.ts'

const schema = redeem.pick({ key: true })

/** Turns a code into balance. One in the address is filled in. */
export function Redeem() {
  const [code] = useState(() => new URLSearchParams(location.search).get('code') ?? '')
  const form = useZodForm({ schema, values: { key: code }, mode: 'onSubmit' })
  const check = useBotCheck()
  const utils = trpc.useUtils()
  const send = trpc.user.redemptions.redeem.useMutation()
  return (
    <Section title={t('使用兑换码')}>
      <InlineForm
        form={form}
        submitLabel={t('兑换')}
        fieldOf={{
          'redeem.unknown': 'key',
          'redeem.used': 'key',
          'redeem.used_up': 'key',
          'redeem.used_by_you': 'key',
          'redeem.disabled': 'key',
          'redeem.expired': 'key',
          'redeem.not_yet_valid': 'key',
        }}
        onSubmit={async ({ key }) => {
          const { quota, isGift } = await check.with((turnstile) => send.mutateAsync({ key, turnstile }))
          // The next one may have been typed meanwhile.
          if (form.getValues('key').trim() === key) form.reset({ key: '' }, { keepDirtyValues: false })
          const amount = quotaText(quota)
          notify.success(
            isGift ? t('礼品码兑换成功，获得 {amount}', { amount }) : t('兑换成功，获得 {amount}', { amount }),
          )
          await Promise.all([
            utils.user.wallet.invalidate(),
            utils.user.redemptions.invalidate(),
            utils.user.account.invalidate(),
          ])
        }}
      >
        <TextField name="key" label={t('您的兑换码')} placeholder={t('请输入兑换码')} mono required />
        <BotCheck {...check.props} />
      </InlineForm>
    </Section>
  )
}
