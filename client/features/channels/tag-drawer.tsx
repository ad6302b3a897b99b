import { useMemo } from 'react'
import { z } from 'zod'
import { editTag } from '#features/channels/schema.ts'
import { confirm } from '../../components/confirm.tsx'
import { ChoicesField } from '../../components/fields/choice-fields.tsx'
import { JsonField, NumberField, TextField } from '../../components/fields/text-fields.tsx'
import { FieldRow, FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { Notice } from '../../components/notice.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { useChannelActions } from './use-channel-actions.ts'

const fields = editTag.shape
const tagForm = z.object({
  newTag: fields.newTag.unwrap(),
  models: fields.models.unwrap(),
  groups: fields.groups.unwrap(),
  modelMapping: fields.modelMapping.unwrap(),
  priority: fields.priority.unwrap().nullable(),
  weight: fields.weight.unwrap().nullable(),
})
type TagValues = z.infer<typeof tagForm>

/** What was filled in; the rest stays as each channel has it. */
const changesOf = (tag: string, values: TagValues) => ({
  ...(values.newTag !== tag && { newTag: values.newTag }),
  ...(values.models.length > 0 && { models: values.models }),
  ...(values.groups.length > 0 && { groups: values.groups }),
  ...(values.modelMapping.trim() !== '' && { modelMapping: values.modelMapping }),
  ...(values.priority !== null && { priority: values.priority }),
  ...(values.weight !== null && { weight: values.weight }),
})

const choiceOf = (value: string) => ({ value, label: value })

/** One change for every channel of a tag. */
export function TagDrawer({ tag, onClose }: { tag: string; onClose: () => void }) {
  return <Editor key={tag} tag={tag} onClose={onClose} />
}

function Editor({ tag, onClose }: { tag: string; onClose: () => void }) {
  const values = useMemo(
    (): TagValues => ({ newTag: tag, models: [], groups: [], modelMapping: '', priority: null, weight: null }),
    [tag],
  )
  const form = useZodForm({ schema: tagForm, values })
  const edit = trpc.admin.channels.tags.edit.useMutation()
  const groups = trpc.admin.groups.names.useQuery(undefined, { ...reportedWhenFailed, enabled: tag !== '' })
  const models = trpc.admin.channels.models.useQuery(undefined, { ...reportedWhenFailed, enabled: tag !== '' })
  const { refresh } = useChannelActions()

  const submit = async (given: TagValues) => {
    const changes = changesOf(tag, given)
    if (Object.keys(changes).length === 0) throw new Error(t('没有任何修改！'))
    if (given.newTag === '' && !(await confirmDissolving(tag))) throw new Error(t('标签没有解散'))
    await edit.mutateAsync({ tag, ...changes })
    notify.success(t('标签更新成功！'))
    await refresh()
  }

  return (
    <FormDrawer
      open={tag !== ''}
      onClose={onClose}
      title={t('编辑标签')}
      description={tag}
      form={form}
      onSubmit={submit}
    >
      <Notice>{t('修改会作用于此标签的所有渠道；留空的项保持各渠道原来的值。')}</Notice>
      <FormSection>
        <TextField name="newTag" label={t('标签名称')} help={t('清空则解散标签，渠道本身保留')} autoFocus />
        <ChoicesField
          name="models"
          label={t('模型')}
          choices={(models.data ?? []).map(({ id, ownedBy }) => ({ value: id, label: id, note: ownedBy }))}
          allowNew
          placeholder={t('留空则不更改')}
        />
        <ChoicesField
          name="groups"
          label={t('分组')}
          choices={(groups.data ?? []).map(choiceOf)}
          allowNew
          placeholder={t('留空则不更改')}
        />
        <FieldRow>
          <NumberField name="priority" label={t('优先级')} nullable placeholder={t('留空则不更改')} />
          <NumberField name="weight" label={t('权重')} nullable placeholder={t('留空则不更改')} />
        </FieldRow>
        <JsonField
          name="modelMapping"
          label={t('模型映射')}
          rows={4}
          optional
          placeholder={t('留空则不更改')}
          help={t('填空对象可清除映射')}
        />
      </FormSection>
    </FormDrawer>
  )
}

const confirmDissolving = (tag: string) =>
  confirm({
    title: t('解散标签「{tag}」？', { tag }),
    body: t('渠道会保留，只是不再属于这个标签。'),
    confirmLabel: t('解散'),
    danger: true,
  })
