import { Button, HStack, Stack } from '@chakra-ui/react'
import { FormProvider } from 'react-hook-form'
import { z } from 'zod'
import { CardsField } from '../../components/fields/cards-field.tsx'
import { ChoicesField, SelectField, SwitchField } from '../../components/fields/choice-fields.tsx'
import { QuotaField } from '../../components/fields/quota-field.tsx'
import { JsonField, NumberField, SecretField, TextField, TextareaField } from '../../components/fields/text-fields.tsx'
import { TimeField } from '../../components/fields/time-field.tsx'
import { FieldRow, FormAdvanced, FormDrawer, FormSection } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { useZodForm } from '../../lib/form.ts'
import { useUrlState } from '../../lib/url-state.ts'

const schema = z.object({
  name: z.string().min(1).max(20),
  key: z.string(),
  quota: z.number().int().min(0),
  unlimited: z.boolean(),
  expires: z.date().nullable(),
  models: z.array(z.string()),
  group: z.string(),
  model: z.string(),
  period: z.number().int().min(1),
  mapping: z.string(),
  note: z.string(),
  mode: z.string(),
})

const models = ['gpt-4o-mini', 'gpt-4.1', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'deepseek-v3'].map((value) => ({
  value,
  label: value,
}))

const groups = [
  { value: 'default', label: 'default' },
  { value: 'vip', label: 'vip', note: '×0.8' },
]

const empty: z.infer<typeof schema> = {
  name: '',
  key: 'sk-0123456789abcdef0123456789abcdef',
  quota: 500_000,
  unlimited: false,
  expires: null,
  models: ['gpt-4.1'],
  group: 'default',
  model: 'gpt-4o-mini',
  period: 60,
  mapping: '{"a": 1}',
  note: '',
  mode: 'external',
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

function Fields() {
  return (
    <>
      <FormSection>
        <TextField name="name" label="名称" required help="1 至 20 个字符" autoFocus />
        <SecretField name="key" label="Key" copyable />
        <QuotaField name="quota" label="额度" presets={[1, 10, 50, 100]} />
        <SwitchField name="unlimited" label="无限额度" help="The balance of the account is the only limit." />
      </FormSection>
      <FormSection title="Models" description="What this token may call.">
        <ChoicesField name="models" label="Allowed models" choices={models} allowNew />
        <FieldRow>
          <SelectField name="group" label="Group" choices={groups} />
          <SelectField name="model" label="Test model" choices={models} search />
        </FieldRow>
      </FormSection>
      <CardsField
        name="mode"
        label="Usage mode"
        columns={2}
        choices={[
          { value: 'external', label: 'External', description: 'Every model needs a price.' },
          { value: 'self', label: 'Self-use', description: 'No prices are needed.' },
        ]}
      />
      <FormAdvanced>
        <NumberField name="period" label="Period" unit="秒" />
        <TimeField
          name="expires"
          label="Expires"
          presets={[{ label: '1 h', time: () => new Date(Date.now() + 3.6e6) }]}
        />
        <JsonField name="mapping" label="Model mapping" optional />
        <TextareaField name="note" label="Note" />
      </FormAdvanced>
    </>
  )
}

export function FormSample() {
  const [state, set] = useUrlState({ form: false })
  const form = useZodForm({ schema, values: empty })
  return (
    <Stack gap="4" maxW="xl">
      <HStack>
        <Button variant="solid" onClick={() => set({ form: true })}>
          Open drawer
        </Button>
      </HStack>
      <FormProvider {...form}>
        <Fields />
      </FormProvider>
      <DrawerSample open={state.form} onClose={() => set({ form: false })} />
    </Stack>
  )
}

function DrawerSample({ open, onClose }: { open: boolean; onClose: () => void }) {
  const form = useZodForm({ schema, values: empty })
  const save = async (values: z.infer<typeof schema>) => {
    await wait(600)
    if (values.name === 'taken') throw new Error('The name is taken')
    notify.success('保存成功')
  }
  return (
    <FormDrawer open={open} onClose={onClose} title="新建令牌" form={form} onSubmit={save}>
      <Fields />
    </FormDrawer>
  )
}
