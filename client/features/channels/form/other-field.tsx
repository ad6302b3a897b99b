import { SelectField } from '../../../components/fields/choice-fields.tsx'
import { TextField, TextareaField } from '../../../components/fields/text-fields.tsx'
import type { PlainText } from '../../../i18n/t.ts'
import { t, text } from '../../../i18n/t.ts'
import { FillButton } from './fill-button.tsx'

type Words = { label: PlainText; help: PlainText; placeholder?: string; required?: boolean }

/** What the extra field of a channel means for its type. */
const words: Record<number, Words> = {
  3: {
    label: text('默认 API 版本'),
    help: text('请求中的 api-version 参数优先；填 v1 则使用不带版本的接口'),
    placeholder: '2024-12-01-preview',
  },
  17: { label: text('插件参数'), help: text('作为 X-DashScope-Plugin 请求头发送，一般留空') },
  18: { label: text('星火大模型版本'), help: text('留空则为 v2.1'), placeholder: 'v3.5' },
  21: { label: text('知识库 ID'), help: text('知识库在提供商处的编号'), required: true },
  24: { label: text('API 版本'), help: text('一般留空，由系统设置中的模型版本决定'), placeholder: 'v1beta' },
  39: { label: text('账户 ID'), help: text('Cloudflare 账户的 ID'), required: true },
  49: { label: text('Bot ID'), help: text('智能体的编号'), required: true },
}

const regions = '{\n  "default": "us-central1",\n  "claude-sonnet-4-5": "us-east5"\n}'

export function OtherField({ type }: { type: number }) {
  if (type === 37) {
    return (
      <SelectField
        name="other"
        label={t('应用类型')}
        placeholder={t('聊天（默认）')}
        choices={[
          { value: 'workflow', label: t('工作流') },
          { value: 'completion', label: t('文本生成') },
        ]}
      />
    )
  }
  if (type === 41) {
    return (
      <TextareaField
        name="other"
        label={t('部署地区')}
        required
        mono
        rows={2}
        placeholder="us-east5"
        help={t('一个地区，或按模型指定地区的 JSON，其中必须有 default')}
        extra={<FillButton name="other" text={regions} />}
      />
    )
  }
  const own = words[type]
  if (!own) return null
  return (
    <TextField
      name="other"
      label={t(own.label)}
      help={t(own.help)}
      placeholder={own.placeholder}
      required={own.required ?? false}
      mono
    />
  )
}
