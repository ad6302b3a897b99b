import { Button, Field, Flex, Input, Stack, Text } from '@chakra-ui/react'
import { Plus, Trash, Wrench } from 'lucide-react'
import { IconButton } from '../../components/icon-button.tsx'
import { JsonEditor } from '../../components/json-editor.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { emptySchema, type FunctionTool, sampleTool, schemaOf, toolNamePattern } from './tools.ts'

type ToolsSheetProps = {
  open: boolean
  onClose: () => void
  tools: readonly FunctionTool[]
  onChange: (tools: readonly FunctionTool[]) => void
}

/** The functions that models may call here; what they return is typed below the call. */
export function ToolsSheet({ open, onClose, tools, onChange }: ToolsSheetProps) {
  const add = (tool: FunctionTool) => onChange([...tools, tool])
  const fresh: FunctionTool = { name: '', description: '', parameters: emptySchema }
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={t('函数工具')}
      description={t('模型调用函数时，在对话中填写返回结果，再继续。')}
    >
      <Stack gap="5">
        {tools.length === 0 && (
          <EmptyState
            icon={Wrench}
            title={t('还没有函数')}
            action={<Button onClick={() => add(sampleTool)}>{t('从示例开始')}</Button>}
          />
        )}
        {tools.map((tool, index) => (
          <ToolFields
            // Names change while they are typed.
            key={index}
            tool={tool}
            isRepeated={tools.findIndex(({ name }) => name === tool.name) !== index}
            onChange={(patch) => onChange(tools.map((one, at) => (at === index ? { ...one, ...patch } : one)))}
            onRemove={() => onChange(tools.filter((_, at) => at !== index))}
          />
        ))}
        <Flex justify="space-between">
          <Button onClick={() => add(fresh)}>
            <Plus aria-hidden />
            {t('添加函数')}
          </Button>
          <Button variant="solid" onClick={onClose}>
            {t('完成')}
          </Button>
        </Flex>
      </Stack>
    </Sheet>
  )
}

type ToolFieldsProps = {
  tool: FunctionTool
  isRepeated: boolean
  onChange: (patch: Partial<FunctionTool>) => void
  onRemove: () => void
}

function ToolFields({ tool, isRepeated, onChange, onRemove }: ToolFieldsProps) {
  const { name, description, parameters } = tool
  const problem = !toolNamePattern.test(name)
    ? t('只能用字母、数字、下划线和短横线，最多 64 个字符')
    : isRepeated
      ? t('名称重复')
      : undefined
  return (
    <Stack gap="3" layerStyle="frame" p="4" role="group" aria-label={name || t('新函数')}>
      <Flex gap="2" align="flex-start">
        <Field.Root invalid={problem !== undefined}>
          <Field.Label>{t('函数名')}</Field.Label>
          <Input
            fontFamily="mono"
            value={name}
            placeholder="get_weather"
            onChange={(event) => onChange({ name: event.target.value })}
          />
          <Field.ErrorText>{problem}</Field.ErrorText>
        </Field.Root>
        <IconButton icon={Trash} label={t('删除函数')} mt="6" onClick={onRemove} />
      </Flex>
      <Field.Root>
        <Field.Label>{t('说明')}</Field.Label>
        <Input value={description} onChange={(event) => onChange({ description: event.target.value })} />
      </Field.Root>
      <Stack gap="1">
        <Text textStyle="label">{t('参数的 JSON Schema')}</Text>
        <JsonEditor
          label={t('参数的 JSON Schema')}
          value={parameters}
          rows={7}
          onChange={(text) => onChange({ parameters: text })}
        />
        {schemaOf(parameters) === undefined && (
          <Text textStyle="xs" color="fg.error">
            {t('参数无效的函数不会发送。')}
          </Text>
        )}
      </Stack>
    </Stack>
  )
}
