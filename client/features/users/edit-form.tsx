import { Text } from '@chakra-ui/react'
import { useMemo, useRef } from 'react'
import { useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { spendCaps } from '#core/limits/spend-cap.ts'
import { refusal } from '#core/refusal.ts'
import { updateUser } from '#features/users/schema.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { SelectField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { SpendCapsField } from '../../components/fields/spend-caps-field.tsx'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { Facts } from '../../components/facts.tsx'
import { FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { RaiseButton } from '../../components/raise-cap.tsx'
import { SpendCaps } from '../../components/spend-caps.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { quotaText } from '../../lib/format.ts'
import { refetchFailed, reportedWhenFailed } from '../../lib/query.ts'
import { useRequestKey } from '../../lib/request-key.ts'
import { trpc } from '../../lib/trpc.ts'
import { useFilled } from '../../lib/use-filled.ts'
import { linkedAccounts, type User } from './words.ts'

/** Whoever changes a balance says why. */
const schema = updateUser
  .omit({ id: true, role: true, quota: true })
  .extend({ spendCaps })
  .refine(({ quotaChange = 0, reason }) => quotaChange === 0 || reason !== '', {
    path: ['reason'],
    message: refusal('user.reason_required'),
  })
type Values = z.input<typeof schema>

const blank: Values = {
  username: '',
  displayName: '',
  password: '',
  group: 'default',
  quotaChange: 0,
  reason: '',
  spendCaps: [],
}

type SetCap = RouterOutputs['admin']['spendCaps']['list'][number]

const valuesOf = ({ username, displayName, group }: User, caps: readonly SetCap[]): Values => ({
  ...blank,
  username,
  displayName,
  group,
  spendCaps: caps.map(({ period, seconds, zone, amount, models }) => ({ period, seconds, zone, amount, models })),
})

/** Changes another's account. The balance is changed by a difference, so that calls under way keep what they set aside. */
export function EditUser({ id, onClose }: { id: number; onClose: () => void }) {
  const wanted = trpc.admin.users.get.useQuery({ id }, { enabled: id > 0, staleTime: 0 })
  const user = wanted.data
  const known = trpc.admin.spendCaps.list.useQuery({ userId: id }, { enabled: id > 0, staleTime: 0 })
  const caps = useMemo(
    () => (known.isFetching ? undefined : known.data?.filter(({ source }) => source === 'admin')),
    [known.data, known.isFetching],
  )
  const form = useZodForm({ schema, values: blank })
  const utils = trpc.useUtils()
  const key = useRequestKey()
  const setCaps = trpc.admin.spendCaps.set.useMutation()
  const failed = (user ? null : wanted.error) ?? (known.data ? null : known.error)
  const began = useFilled(
    form.reset,
    id || undefined,
    wanted.isFetching ? undefined : user && caps && valuesOf(user, caps),
  )
  // They stay set where the rest is refused: what is sent then begins with them.
  const capsSet = useRef<{ began: Values | undefined; caps: Values['spendCaps'] }>(undefined)
  const save = async (values: z.output<typeof schema>) => {
    const { username, displayName, password, group, quotaChange, reason } = values
    // Before the balance: what fails is tried again, and would change it twice.
    const before = capsSet.current?.began === began ? capsSet.current?.caps : began?.spendCaps
    if (JSON.stringify(values.spendCaps) !== JSON.stringify(before)) {
      await setCaps.mutateAsync({ userId: id, caps: values.spendCaps, expected: { caps: before } })
      capsSet.current = { began, caps: values.spendCaps }
    }
    const names = { username, displayName, group }
    const changed = (Object.keys(names) as (keyof typeof names)[]).filter((name) => names[name] !== began?.[name])
    const changes = {
      id,
      ...Object.fromEntries(changed.map((name) => [name, names[name]])),
      expected: Object.fromEntries(changed.map((name) => [name, began?.[name]])),
      ...(password && { password }),
      ...(quotaChange !== 0 && { quotaChange, reason }),
    }
    // Of a change whose answer was lost nobody knows whether it was made: sent again it is made once.
    await utils.client.admin.users.update.mutate(changes, key.contextFor(changes))
    key.done()
    await Promise.all([utils.admin.users.invalidate(), utils.admin.spendCaps.invalidate()])
    notify.success(t('保存成功'))
  }
  return (
    <FormDrawer
      open={id > 0}
      onClose={onClose}
      title={t('编辑用户')}
      description={user && `#${user.id} ${user.username}`}
      form={form}
      onSubmit={save}
      loading={began === undefined && !failed}
      unavailable={failed !== null}
    >
      {failed ? (
        <ErrorState error={failed} onRetry={() => refetchFailed(wanted, known)} />
      ) : (
        <Fields user={user} caps={known.data ?? []} control={form.control} />
      )}
    </FormDrawer>
  )
}

type FieldsProps = { user: User | undefined; caps: readonly SetCap[]; control: Control }

function Fields({ user, caps, control }: FieldsProps) {
  const models = trpc.admin.channels.modelsEnabled.useQuery(undefined, reportedWhenFailed)
  const utils = trpc.useUtils()
  const raise = trpc.admin.spendCaps.raise.useMutation({ onSuccess: () => utils.admin.spendCaps.invalidate() })
  return (
    <>
      <FormSection>
        <TextField name="username" label={t('用户名')} required />
        <TextField name="displayName" label={t('显示名称')} />
        <SecretField
          name="password"
          label={t('新密码')}
          help={t('8 到 20 个字符；留空则不修改。修改后该用户需要重新登录')}
          autoComplete="new-password"
        />
        <GroupField />
      </FormSection>
      {user && <QuotaSection user={user} control={control} />}
      <FormSection title={t('消费上限')}>
        {caps.length > 0 && (
          <SpendCaps caps={caps} actionOf={(cap) => <RaiseButton cap={cap} save={raise.mutateAsync} />} />
        )}
        <SpendCapsField name="spendCaps" models={models.data ?? []} />
      </FormSection>
      {user && <LinkedAccounts user={user} />}
    </>
  )
}

function GroupField() {
  const groups = trpc.admin.groups.names.useQuery(undefined, reportedWhenFailed)
  return (
    <SelectField
      name="group"
      label={t('分组')}
      search
      choices={(groups.data ?? []).map((name) => ({ value: name, label: name }))}
    />
  )
}

type Control = ReturnType<typeof useZodForm<typeof schema>>['control']

function QuotaSection({ user, control }: { user: User; control: Control }) {
  const change = useWatch({ control, name: 'quotaChange' }) ?? 0
  return (
    <FormSection title={t('额度')}>
      <Facts
        facts={[
          { label: t('剩余额度'), value: quotaText(user.quota) },
          { label: t('已用额度'), value: quotaText(user.usedQuota) },
        ]}
      />
      <QuotaField
        name="quotaChange"
        label={t('增加额度')}
        help={t('填写负数则减少')}
        negative
        presets={[1, 5, 10, 100]}
      />
      {Number.isFinite(change) && change !== 0 && (
        <>
          <Text textStyle="sm" aria-live="polite">
            {t('保存后的余额约为 {quota}', { quota: quotaText(user.quota + change) })}
          </Text>
          <TextField name="reason" label={t('调整原因')} help={t('记入审计日志，用户看不到')} required />
        </>
      )}
    </FormSection>
  )
}

/** Only their owner links and unlinks them. */
function LinkedAccounts({ user }: { user: User }) {
  return (
    <FormSection title={t('已绑定的账户')} description={t('只读，由用户自己在个人设置中绑定')}>
      <Facts facts={linkedAccounts(user).map(([label, value]) => ({ label, value: value || t('未绑定') }))} />
    </FormSection>
  )
}
