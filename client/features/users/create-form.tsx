import { createUser } from '#features/users/schema.ts'
import { SecretField, TextField } from '../../components/fields/text-fields.tsx'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'

const schema = createUser.omit({ role: true })
const blank = { username: '', displayName: '', password: '' }

export function CreateUser({ open, onClose }: { open: boolean; onClose: () => void }) {
  const form = useZodForm({ schema, values: blank })
  const utils = trpc.useUtils()
  const create = trpc.admin.users.create.useMutation()
  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={t('添加用户')}
      form={form}
      submitLabel={t('创建')}
      onSubmit={async (values) => {
        await create.mutateAsync(values)
        await utils.admin.users.invalidate()
        notify.success(t('用户账户创建成功！'))
      }}
    >
      <TextField name="username" label={t('用户名')} help={t('最多 12 个字符')} required autoFocus />
      <TextField name="displayName" label={t('显示名称')} help={t('留空则与用户名相同')} />
      <SecretField name="password" label={t('密码')} help={t('8 到 20 个字符')} autoComplete="new-password" required />
    </FormDrawer>
  )
}
