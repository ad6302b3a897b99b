import { Button, HStack, Stack, Text } from '@chakra-ui/react'
import { KeyRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { z } from 'zod'
import { refusal } from '#core/refusal.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import { Time } from '../../components/cells/time.tsx'
import { confirm } from '../../components/confirm.tsx'
import { TextField } from '../../components/fields/text-fields.tsx'
import { InlineForm } from '../../components/inline-form.tsx'
import { notify } from '../../components/notify.ts'
import { PlainDialog } from '../../components/plain-dialog.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { fetchPasskeys, hasPasskeys, isCancelled, isKnownPasskey, makePasskey } from '../../lib/passkeys.ts'
import { trpc } from '../../lib/trpc.ts'
import { deviceOf } from '../../lib/device.ts'

type Passkey = RouterOutputs['user']['secondFactor']['passkeys']['list'][number]
type Changed = (codes?: string[] | null) => Promise<unknown>

/** Keys that a device or a password manager keeps; with one there is no password to type. */
export function Passkeys({ onChanged }: { onChanged: Changed }) {
  const passkeys = trpc.user.secondFactor.passkeys.list.useQuery()
  const [editing, setEditing] = useState<Passkey | 'new'>()
  useEffect(fetchPasskeys, [])
  return (
    <Stack gap="2">
      <HStack justify="space-between" align="flex-start" gap="4">
        <Stack gap="0.5" minW="0">
          <Text textStyle="sm" fontWeight="medium">
            {t('通行密钥')}
          </Text>
          <Text textStyle="xs" color="fg.muted">
            {hasPasskeys()
              ? t('用指纹、面容或安全密钥登录，不需要密码。')
              : t('此浏览器或此地址不支持通行密钥，请通过 https 域名访问。')}
          </Text>
        </Stack>
        <Button size="xs" disabled={!hasPasskeys()} onClick={() => setEditing('new')}>
          {t('添加通行密钥')}
        </Button>
      </HStack>
      {passkeys.error && !passkeys.data && (
        <ErrorState error={passkeys.error} onRetry={() => void passkeys.refetch()} />
      )}
      {passkeys.data && passkeys.data.length > 0 && (
        <Stack gap="0" layerStyle="frame">
          {passkeys.data.map((one) => (
            <Row key={one.id} passkey={one} onEdit={() => setEditing(one)} onChanged={onChanged} />
          ))}
        </Stack>
      )}
      {editing && <Edit passkey={editing} onClose={() => setEditing(undefined)} onChanged={onChanged} />}
    </Stack>
  )
}

type RowProps = { passkey: Passkey; onEdit: () => void; onChanged: Changed }

function Row({ passkey, onEdit, onChanged }: RowProps) {
  const remove = trpc.user.secondFactor.passkeys.remove.useMutation()
  const { name } = passkey
  const ask = async () => {
    const removed = await confirm({
      title: t('移除通行密钥“{name}”？', { name }),
      body: t('它不能再用于登录。设备上的副本需要在设备上删除。'),
      confirmLabel: t('移除'),
      danger: true,
      run: () => remove.mutateAsync({ id: passkey.id }),
    })
    if (removed) await onChanged()
  }
  return (
    <HStack gap="3" px="3" py="2.5" borderBottomWidth="1px" _last={{ borderBottomWidth: '0' }} align="flex-start">
      <HStack h="5" color="fg.muted">
        <KeyRound size={16} aria-hidden />
      </HStack>
      <Stack gap="0.5" flex="1" minW="0">
        <Text textStyle="sm" overflowWrap="anywhere">
          {name}
        </Text>
        <HStack gap="3" wrap="wrap" textStyle="xs" color="fg.muted" rowGap="0">
          <span>{passkey.site}</span>
          <span>
            {t('添加于')} <Time value={passkey.createdAt} />
          </span>
          {passkey.usedAt && (
            <span>
              {t('最近使用')} <Time value={passkey.usedAt} />
            </span>
          )}
        </HStack>
      </Stack>
      <Button size="xs" variant="ghost" aria-label={t('重命名“{name}”', { name })} onClick={onEdit}>
        {t('重命名')}
      </Button>
      <Button size="xs" aria-label={t('移除“{name}”', { name })} onClick={() => void ask()}>
        {t('移除')}
      </Button>
    </HStack>
  )
}

const fields = z.object({
  name: z.string().trim().min(1, refusal('passkey.name_missing')).max(50, refusal('passkey.name_too_long')),
})

type EditProps = { passkey: Passkey | 'new'; onClose: () => void; onChanged: Changed }

function Edit({ passkey, onClose, onChanged }: EditProps) {
  const isNew = passkey === 'new'
  const values = { name: isNew ? deviceOf(navigator.userAgent).name : passkey.name }
  const form = useZodForm({ schema: fields, values, mode: 'onSubmit' })
  const options = trpc.user.secondFactor.passkeys.options.useMutation()
  const add = trpc.user.secondFactor.passkeys.add.useMutation()
  const rename = trpc.user.secondFactor.passkeys.rename.useMutation()
  const save = async ({ name }: z.output<typeof fields>) => {
    if (!isNew) {
      await rename.mutateAsync({ id: passkey.id, name })
      onClose()
      return onChanged()
    }
    const { recoveryCodes } = await add.mutateAsync({ name, response: await make() })
    notify.success(t('通行密钥已添加'))
    onClose()
    return onChanged(recoveryCodes)
  }
  const make = async () => {
    const asked = await options.mutateAsync()
    return makePasskey(asked).catch((error: unknown) => {
      if (isKnownPasskey(error)) throw new Error(t('此设备上已有本账户的通行密钥。'))
      if (isCancelled(error)) throw new Error(t('没有完成，请重试。'))
      throw error
    })
  }
  return (
    <PlainDialog title={isNew ? t('添加通行密钥') : t('重命名通行密钥')} onClose={onClose}>
      <InlineForm
        form={form}
        onSubmit={save}
        submitLabel={isNew ? t('继续') : t('保存')}
        closes
        extra={<Button onClick={onClose}>{t('取消')}</Button>}
      >
        <TextField
          name="name"
          label={t('名称')}
          {...(isNew ? { help: t('便于以后辨认，例如设备的名称。') } : {})}
          autoFocus
        />
      </InlineForm>
    </PlainDialog>
  )
}
