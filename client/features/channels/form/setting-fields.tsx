import { Box, Button, Field, Input, InputGroup, NativeSelect, SimpleGrid, Stack, Switch, Text } from '@chakra-ui/react'
import { Braces } from 'lucide-react'
import { useState } from 'react'
import { FieldFrame, useField } from '../../../components/fields/field-frame.tsx'
import { JsonEditor } from '../../../components/json-editor.tsx'
import { Notice } from '../../../components/notice.tsx'
import type { PlainText } from '../../../i18n/t.ts'
import { t, text } from '../../../i18n/t.ts'
import { jsonProblem } from '../../../lib/json.ts'
import { readSetting, writeSetting } from './setting.ts'
import type { Setting } from './setting.ts'

type Words = { label: PlainText; help: PlainText }

const switches: Record<string, Words> = {
  thinking_to_content: {
    label: text('思考内容转为正文'),
    help: text('思考过程放进 <think> 标签，与正文一起返回'),
  },
  think_tag_to_reasoning: {
    label: text('正文中的思考转为思考内容'),
    help: text('开头的 <think> 标签移到 reasoning_content'),
  },
  force_format: { label: text('强制格式化'), help: text('把上游的回复整理成标准格式，去掉多余的字段') },
  pass_through_body_enabled: {
    label: text('请求体透传'),
    help: text('除模型名外原样转发；参数覆盖和系统提示词不起作用'),
  },
  force_stream: { label: text('总是以流式请求上游'), help: text('调用方没有要求流式时，收齐后一次返回') },
  system_prompt_override: {
    label: text('系统提示词叠加'),
    help: text('渠道的系统提示词放在请求自带的之前，而不是替换它'),
  },
}

const timeouts: { name: string; label: PlainText; preset: string }[] = [
  { name: 'connect_timeout', label: text('连接超时'), preset: '10' },
  { name: 'first_byte_timeout', label: text('首字节超时'), preset: '300' },
  { name: 'idle_timeout', label: text('静默超时'), preset: '900' },
]

/** The keys of the extra setting as fields; the JSON itself is the value, and can be edited too. */
export function SettingFields() {
  const { field, state } = useField('setting')
  const value = String(field.value ?? '')
  const setting = readSetting(value)
  const [asJson, setAsJson] = useState(false)
  const set = (name: string, next: unknown) => field.onChange(writeSetting(value, name, next))
  return (
    <Stack gap="4">
      {setting ? (
        <Fields setting={setting} set={set} />
      ) : (
        <Notice tone="warning">{t('当前内容不是合法的 JSON 对象，请先在下面改正。')}</Notice>
      )}
      {asJson || !setting || state.invalid ? (
        <FieldFrame label={t('额外设置的 JSON')} state={state} isReported={jsonProblem(value, true) !== undefined}>
          <JsonEditor value={value} onChange={field.onChange} onBlur={field.onBlur} rows={5} optional />
        </FieldFrame>
      ) : (
        <Box>
          <Button size="xs" variant="ghost" onClick={() => setAsJson(true)}>
            <Braces aria-hidden />
            {t('以 JSON 编辑')}
          </Button>
        </Box>
      )}
    </Stack>
  )
}

type FieldsProps = { setting: Setting; set: (name: string, value: unknown) => void }

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

function Fields({ setting, set }: FieldsProps) {
  return (
    <Stack gap="4">
      <Field.Root>
        <Field.Label>{t('代理')}</Field.Label>
        <Input
          value={textOf(setting['proxy'])}
          placeholder="socks5://user:password@host:1080"
          fontFamily="mono"
          autoComplete="off"
          onChange={(event) => set('proxy', event.target.value.trim())}
        />
        <Field.HelperText textStyle="xs">{t('此渠道的请求经由 http、https 或 socks5 代理')}</Field.HelperText>
      </Field.Root>
      <SimpleGrid columns={{ base: 1, sm: 3 }} gap="4">
        {timeouts.map(({ name, label, preset }) => (
          <Field.Root key={name}>
            <Field.Label>{t(label)}</Field.Label>
            <InputGroup endElement={t('秒')}>
              <Input
                value={textOf(setting[name])}
                placeholder={preset}
                inputMode="numeric"
                autoComplete="off"
                onChange={(event) => set(name, secondsIn(event.target.value))}
              />
            </InputGroup>
          </Field.Root>
        ))}
      </SimpleGrid>
      <Field.Root>
        <Field.Label>{t('流式支持')}</Field.Label>
        <NativeSelect.Root>
          <NativeSelect.Field
            value={textOf(setting['stream_support'])}
            onChange={(event) => set('stream_support', event.target.value)}
          >
            <option value="">{t('上游支持流式（默认）')}</option>
            <option value="NON_STREAM_ONLY">{t('上游不支持流式，由网关模拟')}</option>
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
      </Field.Root>
      {Object.entries(switches).map(([name, words]) => (
        <Switch.Root
          key={name}
          checked={setting[name] === true}
          onCheckedChange={({ checked }) => set(name, checked)}
          alignItems="flex-start"
        >
          <Switch.HiddenInput />
          <Switch.Control mt="0.5" />
          <Switch.Label fontWeight="normal">
            <Text as="span" fontWeight="medium" textStyle="sm">
              {t(words.label)}
            </Text>
            <Text as="span" display="block" textStyle="xs" color="fg.muted">
              {t(words.help)}
            </Text>
          </Switch.Label>
        </Switch.Root>
      ))}
    </Stack>
  )
}

const secondsIn = (typed: string): number | '' => {
  const digits = typed.replace(/\D/g, '')
  return digits === '' ? '' : Number(digits)
}
