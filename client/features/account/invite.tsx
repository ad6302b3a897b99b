import { Button, HStack, Input, Stack, Text } from '@chakra-ui/react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { Card } from '../../components/card.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Facts } from '../../components/facts.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { PlainDialog } from '../../components/plain-dialog.tsx'
import { t } from '../../i18n/t.ts'
import { quotaText } from '../../lib/format.ts'
import { useZodForm } from '../../lib/form.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import type { AccountProps } from './account.ts'
import { useRefreshAccount } from './account.ts'

/** The link, what it brought, and the way of the rewards into the balance. */
export function Invite({ account }: AccountProps) {
  const { affEnabled, quotaPerUnit } = useStatus()
  const [transferring, setTransferring] = useState(false)
  return (
    <Card title={t('邀请奖励')}>
      <Stack gap="3">
        {affEnabled && <Link known={account.affCode} />}
        <Facts
          facts={[
            { label: t('已邀请'), value: t('{count} 人', { count: account.affCount }) },
            { label: t('待划转收益'), value: <Money quota={account.affQuota} /> },
            { label: t('累计收益'), value: <Money quota={account.affHistoryQuota} /> },
          ]}
        />
        <HStack gap="3" wrap="wrap">
          <Button disabled={account.affQuota < quotaPerUnit} onClick={() => setTransferring(true)}>
            {t('划转到余额')}
          </Button>
          {account.affQuota < quotaPerUnit && (
            <Text textStyle="xs" color="fg.muted">
              {t('满 {amount} 可以划转', { amount: quotaText(quotaPerUnit) })}
            </Text>
          )}
        </HStack>
      </Stack>
      {transferring && <Transfer account={account} onClose={() => setTransferring(false)} />}
    </Card>
  )
}

/** The code is made when its owner first looks here. */
function Link({ known }: { known: string }) {
  const create = trpc.user.account.inviteCode.useMutation()
  const { mutate } = create
  useEffect(() => {
    if (known === '') mutate()
  }, [known, mutate])
  const code = known || create.data
  const link = code ? `${window.location.origin}/register?aff=${encodeURIComponent(code)}` : ''
  return (
    <HStack gap="2">
      <Input
        readOnly
        value={link}
        aria-label={t('邀请链接')}
        fontFamily="mono"
        textStyle="xs"
        onFocus={(event) => event.target.select()}
      />
      <CopyButton text={link} label={t('复制邀请链接')} size="sm" />
    </HStack>
  )
}

const fields = z.object({ quota: z.number() })

function Transfer({ account, onClose }: AccountProps & { onClose: () => void }) {
  const { quotaPerUnit } = useStatus()
  const form = useZodForm({ schema: fields, values: { quota: account.affQuota }, mode: 'onSubmit' })
  const run = trpc.user.account.transferRewards.useMutation()
  const refresh = useRefreshAccount()
  const save = async (values: z.output<typeof fields>) => {
    await run.mutateAsync(values)
    notify.success(t('划转成功'))
    await refresh()
    onClose()
  }
  return (
    <PlainDialog title={t('划转到余额')} onClose={onClose}>
      <InlineForm
        form={form}
        onSubmit={save}
        submitLabel={t('划转')}
        closes
        fieldOf={{ 'invite.transfer_too_small': 'quota', 'invite.balance_insufficient': 'quota' }}
        extra={<Button onClick={onClose}>{t('取消')}</Button>}
      >
        <QuotaField
          name="quota"
          label={t('划转额度')}
          help={t('可划转 {amount}，每次最低 {least}。', {
            // What cents cannot say is said in full: nobody may type more than there is.
            amount: quotaText(account.affQuota, account.affQuota % (quotaPerUnit / 100) === 0 ? 2 : 6),
            least: quotaText(quotaPerUnit),
          })}
        />
      </InlineForm>
    </PlainDialog>
  )
}
