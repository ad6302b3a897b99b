import { useWatch } from 'react-hook-form'
import type { ChannelType } from '#core/channel-types/index.ts'
import { SelectField, SwitchField } from '../../../components/fields/choice-fields.tsx'
import { JsonField, NumberField, TextField, TextareaField } from '../../../components/fields/text-fields.tsx'
import { FieldRow, FormAdvanced, FormSection } from '../../../components/form-drawer.tsx'
import { t } from '../../../i18n/t.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { FillButton } from './fill-button.tsx'
import { SettingFields } from './setting-fields.tsx'
import type { ChannelValues } from './values.ts'

const organizationType = 1
const statusExample = '{\n  "400": "500"\n}'
const overrideExample = '{\n  "temperature": 0.7\n}'

/** What most channels never need. */
export function AdvancedFields({ entry }: { entry: ChannelType }) {
  return (
    <>
      <FormAdvanced title={t('路由与标签')}>
        <RoutingFields />
      </FormAdvanced>
      <FormAdvanced title={t('请求与响应')}>
        {entry.type === organizationType && (
          <TextField name="openaiOrganization" label={t('组织')} mono placeholder="org-…" help={t('一般留空')} />
        )}
        <NumberField
          name="maxInputTokens"
          label={t('最大输入 tokens')}
          help={t('更长的请求不会发往此渠道；0 为不限制')}
        />
        <TextareaField
          name="systemPrompt"
          label={t('系统提示词')}
          help={t('填写后会替换请求中的系统提示词，没有则加上')}
        />
        <JsonField
          name="paramOverride"
          label={t('参数覆盖')}
          rows={4}
          optional
          placeholder={overrideExample}
          help={t('请求体中的这些字段会被替换；null 表示删除')}
          extra={<FillButton name="paramOverride" text={overrideExample} />}
        />
        <JsonField
          name="statusCodeMapping"
          label={t('状态码复写')}
          rows={4}
          optional
          placeholder={statusExample}
          help={t('只影响返回给调用方的状态码')}
          extra={<FillButton name="statusCodeMapping" text={statusExample} />}
        />
      </FormAdvanced>
      <FormAdvanced title={t('渠道额外设置')}>
        <SettingFields />
      </FormAdvanced>
    </>
  )
}

function RoutingFields() {
  const models = useWatch<ChannelValues, 'models'>({ name: 'models' })
  const tags = trpc.admin.channels.tags.list.useQuery({ offset: 0, limit: 200 }, reportedWhenFailed)
  return (
    <FormSection>
      <FieldRow>
        <NumberField name="priority" label={t('优先级')} help={t('数值大的先用')} />
        <NumberField name="weight" label={t('权重')} help={t('同一优先级内按权重分配')} />
      </FieldRow>
      <SelectField
        name="tag"
        label={t('标签')}
        choices={(tags.data ?? []).map((value) => ({ value, label: value }))}
        search
        allowNew
        clearable
        placeholder={t('无')}
        help={t('同一标签的渠道可以一起修改')}
      />
      <SelectField
        name="testModel"
        label={t('测试模型')}
        choices={models.map((value) => ({ value, label: value }))}
        search
        allowNew
        clearable
        placeholder={t('默认为第一个模型')}
      />
      <TextField
        name="modelPrefix"
        label={t('模型前缀')}
        mono
        placeholder="vip/"
        help={t('调用方须使用“前缀 + 模型名”；一般留空')}
      />
      <SwitchField
        name="autoBan"
        label={t('自动禁用')}
        help={t('密钥失效等错误会自动禁用该密钥；全部失效时禁用渠道')}
      />
    </FormSection>
  )
}
