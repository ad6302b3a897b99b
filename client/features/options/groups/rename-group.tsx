import { z } from 'zod'
import { renameGroup } from '#features/groups/schema.ts'
import { TextField } from '../../../components/fields/text-fields.tsx'
import { FormDrawer, FormSection } from '../../../components/form-drawer.tsx'
import { notify } from '../../../components/notify.ts'
import { t } from '../../../i18n/t.ts'
import { useZodForm } from '../../../lib/form.ts'
import { trpc } from '../../../lib/trpc.ts'

const schema = z.object({ to: renameGroup.shape.to })

/** Takes effect at once, apart from the page's other changes, and everywhere the group is named. */
export function RenameGroup({ from, onClose }: { from: string | undefined; onClose: () => void }) {
  const form = useZodForm({ schema, values: { to: from ?? '' } })
  const rename = trpc.admin.groups.rename.useMutation()
  const utils = trpc.useUtils()
  const save = async ({ to }: z.output<typeof schema>) => {
    if (from === undefined) return
    const { users, tokens, channels } = await rename.mutateAsync({ from, to })
    notify.success(t('分组已重命名：{users} 个用户，{tokens} 个令牌，{channels} 个渠道', { users, tokens, channels }))
    await utils.invalidate()
  }
  return (
    <FormDrawer
      open={from !== undefined}
      onClose={onClose}
      title={t('重命名分组“{name}”', { name: from ?? '' })}
      description={t('立即生效。设置、用户、令牌、渠道和待生效的调价中的名称一并更改，已有的日志保留原名称。')}
      form={form}
      onSubmit={save}
      submitLabel={t('重命名')}
    >
      <FormSection>
        <TextField name="to" label={t('新名称')} autoComplete="off" autoFocus required />
      </FormSection>
    </FormDrawer>
  )
}
