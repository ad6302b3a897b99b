import { Box, Tabs } from '@chakra-ui/react'
import { useWatch } from 'react-hook-form'
import { type MessageFormat, messageText, recipients } from '#features/messages/schema.ts'
import { refusal } from '#core/refusal.ts'
import { SelectField } from '../../components/fields/choice-fields.tsx'
import { TextareaField, TextField } from '../../components/fields/text-fields.tsx'
import { FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { useRequestKey } from '../../lib/request-key.ts'
import { trpc } from '../../lib/trpc.ts'
import { useFilled } from '../../lib/use-filled.ts'
import { MessageBody } from './body.tsx'
import { RecipientPicker } from './recipient-picker.tsx'
import { RecipientTable } from './recipients.tsx'

const newMessage = messageText.extend({
  recipients: recipients.refine(
    (value) => !('userIds' in value) || value.userIds.length > 0,
    refusal('message.recipients_required'),
  ),
})

type Text = { title: string; content: string; format: MessageFormat }

const textOf = ({ title, content, format }: Text): Text => ({ title, content, format })

const blank: Text = { title: '', content: '', format: 'markdown' }

export function CreateMessage({ open, onClose }: { open: boolean; onClose: () => void }) {
  const form = useZodForm({ schema: newMessage, values: { ...blank, recipients: { userIds: [] } } })
  const utils = trpc.useUtils()
  const key = useRequestKey()
  return (
    <FormDrawer
      open={open}
      onClose={onClose}
      title={t('新建消息')}
      form={form}
      submitLabel={t('发送')}
      onSubmit={async (values) => {
        // Whether one whose answer was lost went out nobody knows: sent again it goes out once.
        const sent = await utils.client.admin.messages.create.mutate(values, key.contextFor(values))
        key.done()
        await Promise.all([utils.admin.messages.invalidate(), utils.user.messages.invalidate()])
        notify.success(t('消息已发送给 {count} 位用户', { count: sent.totalRecipients }))
      }}
    >
      <TextFields formats={['markdown', 'html', 'plain']} control={form.control} />
      {open && <RecipientPicker name="recipients" />}
    </FormDrawer>
  )
}

export function EditMessage({ id, onClose }: { id: number; onClose: () => void }) {
  const wanted = trpc.admin.messages.get.useQuery({ id }, { enabled: id > 0, staleTime: 0 })
  const message = wanted.data
  const form = useZodForm({ schema: messageText, values: blank })
  const began = useFilled(form.reset, id || undefined, wanted.isFetching ? undefined : message && textOf(message))
  const utils = trpc.useUtils()
  const update = trpc.admin.messages.update.useMutation()
  const failed = message === undefined && wanted.error !== null
  return (
    <FormDrawer
      open={id > 0}
      onClose={onClose}
      title={t('编辑消息')}
      description={message && `#${message.id}`}
      form={form}
      loading={began === undefined && !failed}
      unavailable={failed}
      onSubmit={async (values) => {
        await update.mutateAsync({ id, ...values, expected: began })
        await Promise.all([utils.admin.messages.invalidate(), utils.user.messages.invalidate()])
        notify.success(t('保存成功'))
      }}
    >
      {failed ? (
        <ErrorState error={wanted.error} onRetry={() => void wanted.refetch()} />
      ) : (
        <>
          <TextFields
            formats={message?.format === 'plain' ? ['markdown', 'html', 'plain'] : ['markdown', 'html']}
            control={form.control}
          />
          {message && (
            <FormSection title={t('收件人')}>
              <RecipientTable key={message.id} id={message.id} />
            </FormSection>
          )}
        </>
      )}
    </FormDrawer>
  )
}

const formatWords = (format: MessageFormat): string =>
  ({ markdown: 'Markdown', html: 'HTML', plain: t('纯文本') })[format]

type Control = ReturnType<typeof useZodForm<typeof messageText>>['control']

function TextFields({ formats, control }: { formats: readonly MessageFormat[]; control: unknown }) {
  return (
    <FormSection>
      <TextField name="title" label={t('标题')} required autoFocus />
      <SelectField
        name="format"
        label={t('格式')}
        choices={formats.map((value) => ({ value, label: formatWords(value) }))}
      />
      <Tabs.Root defaultValue="write" lazyMount unmountOnExit={false}>
        <Tabs.List aria-label={t('内容')}>
          <Tabs.Trigger value="write">{t('编写')}</Tabs.Trigger>
          <Tabs.Trigger value="preview">{t('预览')}</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="write" pt="3">
          <TextareaField name="content" label={t('内容')} rows={8} required />
        </Tabs.Content>
        <Tabs.Content value="preview" pt="3">
          <Preview control={control as Control} />
        </Tabs.Content>
      </Tabs.Root>
    </FormSection>
  )
}

function Preview({ control }: { control: Control }) {
  const [content = '', format = 'markdown'] = useWatch({ control, name: ['content', 'format'] })
  return (
    <Box layerStyle="frame" p="4" minH="40">
      <MessageBody content={content} format={format} />
    </Box>
  )
}
