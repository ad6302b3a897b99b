import { Field } from '@chakra-ui/react'
import { useState } from 'react'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { notify } from '../../../components/notify.ts'
import { Picker } from '../../../components/picker.tsx'
import { refusalText } from '../../../i18n/refusal-text.ts'
import { t } from '../../../i18n/t.ts'
import { errorText } from '../../../lib/errors.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { useChannelActions } from '../use-channel-actions.ts'

type TagDialogProps = { channels: readonly { id: number }[]; onClose: () => void; onDone: () => void }

/** Puts the selected channels under one tag, known or new. */
export function TagDialog({ channels, onClose, onDone }: TagDialogProps) {
  const [tag, setTag] = useState('')
  const [problem, setProblem] = useState('')
  const tags = trpc.admin.channels.tags.list.useQuery({ offset: 0, limit: 200 }, reportedWhenFailed)
  const set = trpc.admin.channels.setTag.useMutation()
  const { refresh } = useChannelActions()

  const submit = async () => {
    if (tag.trim() === '') return setProblem(refusalText({ code: 'channel.tag_required' }))
    try {
      const { count } = await set.mutateAsync({ ids: channels.map(({ id }) => id), tag: tag.trim() })
      notify.success(t('已为 {count} 个渠道设置标签', { count }))
      await refresh()
      onDone()
      onClose()
    } catch (error) {
      setProblem(errorText(error))
    }
  }

  return (
    <FormDialog
      title={t('为 {count} 个渠道设置标签', { count: channels.length })}
      submitLabel={t('确认')}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field.Root invalid={problem !== ''} required>
        <Field.Label>{t('标签')}</Field.Label>
        <Picker
          choices={(tags.data ?? []).map((value) => ({ value, label: value }))}
          value={tag}
          onChange={(next) => {
            setTag(next)
            setProblem('')
          }}
          allowNew
          invalid={problem !== ''}
          placeholder={t('选择或输入')}
        />
        {problem !== '' && <Field.ErrorText>{problem}</Field.ErrorText>}
      </Field.Root>
    </FormDialog>
  )
}
