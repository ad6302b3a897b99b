import { useWatch } from 'react-hook-form'
import type { ChannelType } from '#core/channel-types/index.ts'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { ChoicesField, SelectField } from '../../../components/fields/choice-fields.tsx'
import { JsonField, TextField } from '../../../components/fields/text-fields.tsx'
import { FormSection } from '../../../components/form-drawer.tsx'
import { Notice } from '../../../components/notice.tsx'
import { t } from '../../../i18n/t.ts'
import { useSession } from '../../../lib/session.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { typeChoices, typeWarning } from '../types.ts'
import { AdvancedFields } from './advanced.tsx'
import { FillButton } from './fill-button.tsx'
import { KeyField } from './key-field.tsx'
import { ModelsField } from './models-field.tsx'
import { OtherField } from './other-field.tsx'
import { PresetField } from './preset-field.tsx'
import type { ChannelValues } from './values.ts'
import { endsWithVersion, needsKeyAgain } from './values.ts'

const customType = 8

/** The whole form; what a type does not use is not shown. */
export function ChannelFields({ id, stored }: { id: number | undefined; stored: ChannelValues | undefined }) {
  const [type, baseUrl] = useWatch<ChannelValues, ['type', 'baseUrl']>({ name: ['type', 'baseUrl'] })
  const entry = channelTypeOf(type)
  const { isRoot } = useSession()
  const groups = trpc.admin.groups.names.useQuery(undefined, reportedWhenFailed)
  if (!entry) return null
  return (
    <>
      <FormSection>
        {!stored && <PresetField />}
        <SelectField
          name="type"
          label={t('类型')}
          choices={typeChoices(stored?.type)}
          numeric
          search
          required
          help={typeWarning(entry) ? undefined : t('提供商，或与其兼容的服务')}
        />
        <TypeWarning entry={entry} />
        <TextField name="name" label={t('名称')} required placeholder={t('例如：主力线路')} />
        <AddressField entry={entry} baseUrl={baseUrl} />
        <OtherField type={type} />
        <KeyField
          key={entry.type === 41 ? 'whole' : 'split'}
          entry={entry}
          isStored={stored !== undefined}
          mustRetype={!isRoot && stored !== undefined && needsKeyAgain({ type, baseUrl }, stored)}
        />
      </FormSection>
      <FormSection title={t('模型与分组')}>
        <ModelsField id={id} entry={entry} stored={stored} />
        <ChoicesField
          name="groups"
          label={t('分组')}
          choices={(groups.data ?? []).map((value) => ({ value, label: value }))}
          allowNew
          required
          help={t('这些分组的用户可以使用此渠道')}
        />
        <JsonField
          name="modelMapping"
          label={t('模型映射')}
          rows={4}
          optional
          placeholder={mappingExample}
          help={t('请求的模型名 → 发往上游的模型名')}
          extra={<FillButton name="modelMapping" text={mappingExample} />}
        />
      </FormSection>
      <AdvancedFields entry={entry} />
    </>
  )
}

const mappingExample = '{\n  "gpt-4o": "my-gpt-4o-deployment"\n}'

function TypeWarning({ entry }: { entry: ChannelType }) {
  const warning = typeWarning(entry)
  return warning ? <Notice tone="warning">{warning}</Notice> : null
}

function addressWords({ type, requiresBaseUrl }: ChannelType): { label: string; help: string } {
  if (type === 3) return { label: t('Azure 资源终结点'), help: t('Azure 门户中资源的“终结点”') }
  if (type === customType) {
    return { label: t('完整的接口地址'), help: t('调用会原样发往此地址，须包含 /v1/chat/completions 这样的路径') }
  }
  if (requiresBaseUrl) return { label: t('API 地址'), help: t('服务的地址，不含 /v1') }
  return { label: t('API 地址'), help: t('留空则使用官方地址；填写代理或兼容服务的地址时不含 /v1') }
}

const examples: Record<number, string> = {
  // The usual hosts of drawing services are gone: each operator runs one.
  2: 'https://midjourney.example.com',
  5: 'https://midjourney.example.com',
  3: 'https://NAME.openai.azure.com',
  8: 'https://example.com/v1/chat/completions',
  36: 'https://example.com',
  47: 'http://localhost:9997',
}

function AddressField({ entry, baseUrl }: { entry: ChannelType; baseUrl: string }) {
  const { label, help } = addressWords(entry)
  const ends = entry.type !== customType && endsWithVersion(baseUrl)
  return (
    <>
      <TextField
        name="baseUrl"
        label={label}
        type="url"
        mono
        required={entry.requiresBaseUrl}
        placeholder={examples[entry.type] ?? entry.baseUrl}
        help={help}
      />
      {ends && <Notice tone="warning">{t('地址以 /v1 结尾：调用时会自动加上 /v1，这里通常不必填写。')}</Notice>}
    </>
  )
}
