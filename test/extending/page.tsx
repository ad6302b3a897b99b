import { Stack, Text } from '@chakra-ui/react'
import { Card } from '../../client/components/card.tsx'
import { TextField } from '../../client/components/fields/text-fields.tsx'
import { InlineForm } from '../../client/components/inline-form.tsx'
import { Page as Frame } from '../../client/components/page.tsx'
import { t } from '../../client/i18n/t.ts'
import { useZodForm } from '../../client/lib/form.ts'
import { createNote } from './schema.ts'
import { trpc } from './trpc.ts'

const empty = { content: '' }

export function Page() {
  const notes = trpc.user.notes.list.useQuery({ page: 1, pageSize: 20 })
  const create = trpc.user.notes.create.useMutation()
  const utils = trpc.useUtils()
  const form = useZodForm({ schema: createNote, values: empty, mode: 'onSubmit' })
  return (
    <Frame title={t('备注')} width="form">
      <Card title={t('添加')}>
        <InlineForm
          form={form}
          submitLabel={t('保存')}
          onSubmit={async (values) => {
            await create.mutateAsync(values)
            form.reset()
            await utils.user.notes.list.invalidate()
          }}
        >
          <TextField name="content" label={t('内容')} />
        </InlineForm>
      </Card>
      <Stack as="ul">
        {notes.data?.items.map(({ id, content }) => (
          <Text as="li" key={id}>
            {content}
          </Text>
        ))}
      </Stack>
    </Frame>
  )
}
