import { Box, Button, Flex, Grid, Stack, Text } from '@chakra-ui/react'
import { Plus, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useFieldArray } from 'react-hook-form'
import { z } from 'zod'
import type { ModelMapping } from '#core/options/model-mapping.ts'
import { NumberField, TextField } from '../../../components/fields/text-fields.tsx'
import { FormDrawer } from '../../../components/form-drawer.tsx'
import { IconButton } from '../../../components/icon-button.tsx'
import { notify } from '../../../components/notify.ts'
import { refusalText } from '../../../i18n/refusal-text.ts'
import { t } from '../../../i18n/t.ts'
import { useZodForm } from '../../../lib/form.ts'
import { trpc } from '../../../lib/trpc.ts'

/** Stands in the address for a mapping that is still to be named. */
export const newMapping = '+'

const rank = z.int().min(0)

const mappingForm = (taken: readonly string[]) =>
  z
    .object({
      name: z.string().trim(),
      entries: z.array(z.object({ model: z.string().trim(), priorities: rank, weight: rank })),
    })
    .superRefine(({ name, entries }, context) => {
      const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
      if (name === '') refuse(['name'], t('请输入虚拟模型名'))
      if (taken.includes(name)) refuse(['name'], t('虚拟模型名 {name} 已存在', { name }))
      const seen = new Set<string>()
      for (const [index, { model }] of entries.entries()) {
        if (model === '') refuse(['entries', index, 'model'], t('请输入实际模型名'))
        else if (seen.has(model)) refuse(['entries', index, 'model'], t('实际模型名重复'))
        seen.add(model)
      }
    })

const newEntry = { model: '', priorities: 0, weight: 0 }

type MappingFormProps = { opened: string; mapping: ModelMapping | undefined; onClose: () => void }

export function MappingForm({ opened, mapping, onClose }: MappingFormProps) {
  const isNew = opened === newMapping
  const others = Object.keys(mapping ?? {}).filter((name) => name !== opened)
  const form = useZodForm({ schema: mappingForm(others), values: { name: '', entries: [newEntry] } })
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'entries' })
  const utils = trpc.useUtils()
  const update = trpc.admin.options.mapping.update.useMutation()
  const { reset } = form
  const isKnown = mapping !== undefined
  const began = useRef<string>(undefined)
  useEffect(() => {
    if (opened === '' || !isKnown) return
    began.current = JSON.stringify(mapping?.[opened])
    const entries = mapping?.[opened] ?? [newEntry]
    reset({ name: isNew ? '' : opened, entries: entries.map((entry) => ({ ...entry })) }, { keepDirtyValues: false })
    // Only opening a row fills the form; a refresh leaves what is being typed.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [opened, isKnown, isNew, reset])
  return (
    <FormDrawer
      open={opened !== ''}
      onClose={onClose}
      title={isNew ? t('添加模型映射') : t('编辑模型映射')}
      description={t('保存后立即生效。')}
      form={form}
      loading={!isKnown}
      onSubmit={async ({ name, entries }) => {
        const { mapping: expected } = await utils.admin.options.mapping.get.fetch(undefined, { staleTime: 0 })
        if (name !== opened && Object.hasOwn(expected, name)) throw new Error(t('虚拟模型名 {name} 已存在', { name }))
        const now = JSON.stringify(expected[opened])
        if (now !== began.current) {
          // Whoever saves again has read that somebody else changed it.
          began.current = now
          throw new Error(refusalText({ code: 'mapping.changed_meanwhile' }))
        }
        const others = Object.entries(expected).filter(([other]) => other !== opened)
        await update.mutateAsync({ mapping: { ...Object.fromEntries(others), [name]: entries }, expected })
        await utils.admin.options.invalidate()
        notify.success(t('保存成功'))
      }}
    >
      <TextField name="name" label={t('虚拟模型名')} help={t('调用者在请求中使用的名称')} required mono />
      <Stack gap="3">
        <Box>
          <Text fontWeight="medium">{t('实际模型')}</Text>
          <Text textStyle="xs" color="fg.muted">
            {t('优先级高的先尝试；优先级相同时按权重分配。')}
          </Text>
        </Box>
        {fields.map((entry, index) => (
          <Flex key={entry.id} gap="2" align="flex-start">
            <Grid
              flex="1"
              minW="0"
              gap="3"
              templateColumns={{ base: '1fr 1fr', sm: 'minmax(0, 1fr) 90px 90px' }}
              css={{ '& > :first-of-type': { gridColumn: { base: '1 / -1', sm: 'auto' } } }}
            >
              <TextField name={`entries.${index}.model`} label={t('模型')} mono />
              <NumberField name={`entries.${index}.priorities`} label={t('优先级')} />
              <NumberField name={`entries.${index}.weight`} label={t('权重')} />
            </Grid>
            <IconButton
              mt="7"
              size="xs"
              icon={X}
              label={t('移除第 {number} 个实际模型', { number: index + 1 })}
              disabled={fields.length === 1}
              onClick={() => remove(index)}
            />
          </Flex>
        ))}
        <Button alignSelf="flex-start" size="xs" onClick={() => append(newEntry)}>
          <Plus aria-hidden />
          {t('添加实际模型')}
        </Button>
      </Stack>
    </FormDrawer>
  )
}
